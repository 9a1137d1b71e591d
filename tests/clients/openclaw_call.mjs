// Call one method of an OpenClaw gateway and print what it answers, as its own command line does in many seconds.
// Arguments: the port, the gateway's token, the method, its parameters as JSON.
const [port, token, method, params] = process.argv.slice(2);
const socket = new WebSocket(`ws://127.0.0.1:${port}`);
const ask = (id, name, about) => socket.send(JSON.stringify({ type: "req", id, method: name, params: about }));
const client = { id: "cli", version: "1", platform: process.platform, mode: "cli" };
const who = { minProtocol: 4, maxProtocol: 4, client, role: "operator", scopes: ["operator.admin"], auth: { token } };

function finish(code, told) {
  console.log(JSON.stringify(told));
  process.exit(code);
}

socket.onerror = () => finish(1, "the gateway cannot be reached");
socket.onclose = (event) => finish(1, `the gateway closed: ${event.code} ${event.reason}`);
socket.onmessage = ({ data }) => {
  const told = JSON.parse(data);
  if (told.event === "connect.challenge") ask("connect", "connect", who);
  if (told.type !== "res") return;
  if (!told.ok) finish(1, told.error);
  else if (told.id === "connect") ask("call", method, JSON.parse(params));
  // What takes long is accepted first, and answered once it is done.
  else if (told.payload?.status !== "accepted") finish(0, told.payload);
};
