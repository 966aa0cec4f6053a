/** The OpenClaw plugin: takes the memory slot and asks one Python process, over MCP, for everything. */

import { definePluginEntry } from "openclaw/plugin-sdk/plugin-entry";
import { listAgentIds, tryResolveDefaultAgentId } from "openclaw/plugin-sdk/agent-scope-runtime";

import { classifyPaths, flushPlan, promptSection, SearchManager } from "./capability.mjs";
import { captureSettings, registerCapture } from "./capture.mjs";
import { sharedProcess, StoppedError, stopShared } from "./child.mjs";
import { registerCli } from "./cli.mjs";
import { registerCommands } from "./commands.mjs";
import { contextSettings, registerContext, sharedTurns, tellPermission } from "./context.mjs";
import { ingestJob, registerLifecycle } from "./lifecycle.mjs";
import { registerTab } from "./tab.mjs";
import { agentOf, registerParents } from "./parents.mjs";
import { makeTool, searchLimits, TOOLS } from "./tools.mjs";

const ID = "openclaw-memory";

/** What the modules need of the host, in one place. */
function hostOf(api) {
  const config = captureSettings(api.pluginConfig ?? {});
  // The runtime is there only later: OpenClaw also registers plugins to learn their commands.
  const stateDir = () => api.runtime.state.resolveStateDir(process.env);
  const cfg = () => api.runtime.config?.current?.() ?? api.config;
  const workspaceOf = (agentId) => api.runtime.agent.resolveAgentWorkspaceDir(cfg(), agentId);
  // With several agents there may be no default one: then the first is what a command is about and what is loaded early.
  const defaultAgent = () => tryResolveDefaultAgentId(cfg()) ?? listAgentIds(cfg())[0];
  const remembers = (agentId) => searchLimits(cfg(), agentId) !== null;
  let stopped = false;
  /** The process of this registration; what still runs after it was stopped starts no other one. */
  const memory = () => {
    if (stopped) throw new StoppedError();
    const agent = defaultAgent();
    const early = agent && remembers(agent) ? { agent, workspace: workspaceOf(agent) } : {};
    return sharedProcess({ config, stateDir: stateDir(), version: api.version, ...early }, api.logger);
  };
  const warm = () => {
    try {
      if (!stopped && listAgentIds(cfg()).some(remembers)) memory().warm();
    } catch (error) {
      api.logger.warn(`openclaw-memory: not started: ${error.message}`);
    }
  };
  return {
    config,
    stateDir,
    cfg,
    workspaceOf,
    defaultAgent,
    agents: () => listAgentIds(cfg()),
    rootDir: api.rootDir,
    logger: api.logger,
    version: api.version,
    remembers,
    memory,
    /** Have the process ready for what comes; never fails. */
    warm,
    start() {
      stopped = false;
      warm();
    },
    async stop() {
      if (stopped) return;
      const running = memory();
      stopped = true;
      await stopShared(running);
    },
    /**
     * Whose memory a turn or an event is about; nobody's when that is not clear, or memory search is off for that agent.
     *
     * The folder is always the agent's own: a sandboxed turn works in another one, which holds no memory.
     */
    subjectOf(ctx) {
      const agentId = ctx?.agentId ?? (ctx?.sessionKey ? agentOf(ctx.sessionKey) : tryResolveDefaultAgentId(cfg()));
      if (!agentId || !remembers(agentId)) return null;
      return { agentId, workspaceDir: workspaceOf(agentId) };
    },
  };
}

/** What the host has recorded about who wrote a memory file, where this version of it offers that. */
async function recordedProvenance(at) {
  try {
    const { readMemoryArtifactProvenance } = await import("openclaw/plugin-sdk/memory-core-host-runtime-core");
    return await readMemoryArtifactProvenance?.(at);
  } catch {
    return undefined;
  }
}

function capability(host) {
  const managerFor = (agentId) => {
    const workspaceDir = host.workspaceOf(agentId);
    const call = (tool, args, options) => host.memory().call(tool, args, { agent: agentId, workspace: workspaceDir, ...options });
    const floor = searchLimits(host.cfg(), agentId)?.minScore;
    return new SearchManager(call, { workspaceDir, timeoutMs: host.config.searchTimeoutMs ?? 10_000, floor });
  };
  return {
    deterministicRecallToolName: "memory_search",
    promptBuilder(params) {
      if (params.availableTools.has("memory_search")) host.warm(); // a turn begins: be ready for its search
      if (host.config.promptSection === false) return [];
      const agentId = params.agentId ?? agentOf(params.agentSessionKey) ?? "";
      return promptSection({ ...params, context: contextSettings(host.config, agentId) !== null });
    },
    flushPlanResolver: flushPlan,
    runtime: {
      supportsWorkspaceMemoryReadSources: true,
      async getMemorySearchManager({ cfg, agentId, purpose }) {
        if (searchLimits(cfg, agentId) === null) return { manager: null, error: "memory search is off for this agent" };
        const started = Date.now();
        const manager = managerFor(agentId);
        if (purpose === "status" || purpose === "cli") await manager.refresh();
        return { manager, debug: { backend: "builtin", purpose, managerMs: Date.now() - started } };
      },
      resolveMemoryBackendConfig: () => null, // with another answer `openclaw doctor` asks for an embedding key
      async authorizeSearchHits({ hits }) {
        return hits.filter((hit) => hit.source === "memory"); // session transcripts are not ours to show
      },
      classifyWorkspaceMemoryPaths: (params) => classifyPaths(params, recordedProvenance),
      async closeMemorySearchManager() {},
      async closeAllMemorySearchManagers() {},
    },
    publicArtifacts: {
      async listArtifacts(params) {
        const { listMemoryHostPublicArtifacts } = await import("openclaw/plugin-sdk/memory-host-core");
        return await listMemoryHostPublicArtifacts(params);
      },
    },
  };
}

export default definePluginEntry({
  id: ID,
  name: ID,
  description: "Long-term memory on the agent's own machine: no LLM call, no network.",
  register(api) {
    const host = hostOf(api);
    api.registerMemoryCapability(capability(host));
    const ingest = ingestJob(host.memory, api.logger);
    for (const tool of TOOLS) {
      api.registerTool(
        (ctx) => {
          const subject = host.subjectOf(ctx);
          if (!subject) return null;
          const cfg = () => ctx.getRuntimeConfig?.() ?? ctx.runtimeConfig ?? ctx.config ?? host.cfg();
          const memory = { config: host.config, call: (...given) => host.memory().call(...given) };
          const reading = () => ingest.running(subject);
          if (tool.name === "memory_search") sharedTurns().toolsMade({ ...ctx, agentId: subject.agentId });
          const stranger = Boolean(ctx.requesterSenderId) && ctx.senderIsOwner !== true;
          return makeTool(tool, memory, { ...subject, sessionKey: ctx.sessionKey, cfg, reading, stranger });
        },
        { names: [tool.name] },
      );
    }
    const keepWaiting = registerCapture(api, host);
    const start = (ctx) => {
      host.start();
      keepWaiting();
      tellPermission(host, ctx?.config);
    };
    registerLifecycle(api, { ...host, start, ingest });
    registerParents(api);
    registerContext(api, host);
    registerCli(api, host);
    registerTab(api, host);
    registerCommands(api, host);
  },
});
