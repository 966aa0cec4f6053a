/** Send a message as the owner's own client does, which has `operator.admin`; print the answer. */
import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";

const [modules, sessionKey, message] = process.argv.slice(2);
const { callGatewayFromCli } = await import(new URL("openclaw/dist/plugin-sdk/gateway-runtime.js", pathToFileURL(`${modules}/`)));
const call = (method, params) =>
  callGatewayFromCli(method, { timeout: "300000", json: true }, params, { scopes: ["operator.admin", "operator.read", "operator.write"] });
const textOf = ({ content }) => (typeof content === "string" ? content : content.map(({ text }) => text ?? "").join(""));
await call("chat.send", { sessionKey, message, idempotencyKey: message });
for (;;) {
  const { messages } = await call("chat.history", { sessionKey });
  const sent = messages.findLastIndex((each) => each.role === "user" && textOf(each) === message);
  const answer = sent < 0 ? undefined : messages.slice(sent).find(({ role }) => role === "assistant");
  if (answer) {
    process.stdout.write(textOf(answer), () => process.exit(0));
    break;
  }
  await delay(200);
}
