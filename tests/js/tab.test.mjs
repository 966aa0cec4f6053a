import assert from "node:assert/strict";
import { test } from "node:test";

import { registerTab } from "../../hooks/tab.mjs";

/** Register the tab with a host of two agents; resolves what its route answers, and what the process was asked. */
function tab(call = async () => ({ html: Buffer.from("<!doctype html>ü").toString("base64") })) {
  const asked = [];
  const api = { session: { controls: { registerControlUiDescriptor: (given) => (api.descriptor = given) } }, registerHttpRoute: (given) => (api.route = given) };
  const host = {
    agents: () => ["main", "writer", "off"],
    remembers: (agent) => agent !== "off",
    defaultAgent: () => "main",
    workspaceOf: (agent) => `/notes/${agent}`,
    memory: () => ({ call: async (...given) => (asked.push(given), await call()) }),
  };
  registerTab(api, host);
  const get = async (url, method = "GET") => {
    const answer = { body: "" };
    const response = { writeHead: (status, headers) => Object.assign(answer, { status, headers }), end: (text = "") => (answer.body = String(text)) };
    assert.equal(await api.route.handler({ url, method }, response), true);
    return answer;
  };
  return { api, asked, get };
}

test("the tab shows the page that the process makes, of the agent that was chosen", async () => {
  const { api, asked, get } = tab();
  const page = await get(`${api.descriptor.path}?view=search&q=a%20b&agent=writer`);
  assert.deepEqual([page.status, page.body, page.headers["content-type"]], [200, "<!doctype html>ü", "text/html; charset=utf-8"]);
  assert.equal(page.headers["cache-control"], "no-store");
  const [[name, given, { agent, workspace }]] = asked;
  assert.deepEqual([name, given, agent, workspace], ["memory_page", { view: "search", query: "a b", agents: ["main", "writer"] }, "writer", "/notes/writer"]);
});

test("an agent without memory, or none, gets the default one's page", async () => {
  const { api, asked, get } = tab();
  for (const query of ["", "?agent=off", "?agent=../x"]) await get(`${api.descriptor.path}${query}`);
  assert.deepEqual(asked.map(([, , { agent }]) => agent), ["main", "main", "main"]);
});

test("nothing but these pages is there, and nothing is changed", async () => {
  const { api, asked, get } = tab();
  assert.equal((await get(`${api.route.path}/other`)).status, 404);
  assert.equal((await get(api.descriptor.path, "POST")).status, 405);
  assert.equal(asked.length, 0);
  assert.equal((await get(api.descriptor.path, "HEAD")).body, "");
  assert.equal(api.route.auth, "gateway");
});

test("a process that does not answer is named", async () => {
  const { api, get } = tab(async () => {
    throw new Error("the server ended");
  });
  const page = await get(api.descriptor.path);
  assert.deepEqual([page.status, page.body], [503, "The memory does not answer: the server ended"]);
});

test("a host without tabs gets none", () => {
  assert.equal(registerTab({ registerHttpRoute: () => assert.fail() }, {}), undefined);
});
