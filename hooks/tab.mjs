/** The Memory tab of OpenClaw's Control UI: pages that the Python process makes, for the frame in which the host shows them. */

const ROUTE = "/plugins/openclaw-memory";
const TIMEOUT_MS = 30_000;

/**
 * Add the tab and its route, where this OpenClaw has tabs.
 *
 * The host lets a frame only ask (GET, `operator.read`), so the pages show how to forget and leave the doing to commands.
 */
export function registerTab(api, host) {
  const register = api.session?.controls?.registerControlUiDescriptor;
  if (!register || !api.registerHttpRoute) return;
  register({
    surface: "tab",
    id: "memory",
    label: "Memory",
    description: "What the agent remembers: search, changes, the map.",
    icon: "brain",
    group: "agent",
    path: `${ROUTE}/tab`,
    requiredScopes: ["operator.read"],
  });
  api.registerHttpRoute({ path: ROUTE, match: "prefix", auth: "gateway", handler: (request, response) => answer(host, request, response) });
}

async function answer(host, request, response) {
  const url = new URL(request.url, "http://localhost");
  const send = (status, text, type = "text/plain") => {
    response.writeHead(status, {
      "content-type": `${type}; charset=utf-8`,
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
    });
    response.end(request.method === "HEAD" ? undefined : text);
    return true;
  };
  if (url.pathname !== `${ROUTE}/tab`) return send(404, "There is no such page.");
  if (!["GET", "HEAD"].includes(request.method)) return send(405, "These pages change nothing.");
  const agents = host.agents().filter(host.remembers);
  const asked = url.searchParams.get("agent") ?? host.defaultAgent();
  const agent = agents.includes(asked) ? asked : agents[0];
  if (!agent) return send(404, "Memory search is off for every agent.");
  const given = { view: url.searchParams.get("view") ?? "", query: url.searchParams.get("q") ?? "", agents };
  try {
    const { html } = await host.memory().call("memory_page", given, { agent, workspace: host.workspaceOf(agent), timeoutMs: TIMEOUT_MS });
    return send(200, Buffer.from(html, "base64"), "text/html");
  } catch (error) {
    return send(503, `The memory does not answer: ${error.message}`);
  }
}
