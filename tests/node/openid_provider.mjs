// A real OpenID provider on loopback. Its sign-in page takes any name without a password.
// Arguments: folder of the packages, client ID, client secret, redirect URLs.
// Prints its issuer when it is ready, and ends when its input ends.

import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";

const [packages, clientId, clientSecret, ...redirectUrls] = process.argv.slice(2);
const { Provider } = await import(`${packages}/oidc-provider/lib/index.js`);

const people = {
  bob: { email: "bob@example.com", email_verified: false, name: "Bob" },
  carol: { name: "Carol" },
};

function claimsOf(name) {
  const claims = people[name] ?? { email: `${name}@example.com`, email_verified: true, name };
  return { sub: `id-of-${name}`, ...claims };
}

async function grantEverything(ctx) {
  const grant = new ctx.oidc.provider.Grant({
    clientId: ctx.oidc.client.clientId,
    accountId: ctx.oidc.session.accountId,
  });
  grant.addOIDCScope("openid email profile");
  await grant.save();
  return grant;
}

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const configuration = {
  clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: redirectUrls }],
  claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
  cookies: { keys: ["not a secret"] },
  features: { devInteractions: { enabled: false } },
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => claimsOf(id.slice("id-of-".length)),
  }),
  interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
  jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), kid: "first", use: "sig" }] },
  loadExistingGrant: grantEverything,
  pkce: { required: () => true },
};

const page = `<!doctype html><html lang="en"><title>Sign in</title>
<form method="post"><label>Name <input name="name" autofocus></label>
<button>Sign in</button><button name="cancel" value="yes">Cancel</button></form></html>`;

async function interact(provider, request, response) {
  if (request.method !== "POST") {
    response.writeHead(200, { "Content-Type": "text/html" }).end(page);
    return;
  }
  let body = "";
  for await (const part of request) body += part;
  const form = new URLSearchParams(body);
  const result = form.get("cancel")
    ? { error: "access_denied", error_description: "<b>cancelled</b>" }
    : { login: { accountId: `id-of-${form.get("name")}`, remember: false } };
  await provider.interactionFinished(request, response, result);
}

const server = createServer();
server.listen(0, "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, configuration);
  const handle = provider.callback();
  server.on("request", (request, response) => {
    if (!request.url.startsWith("/interaction/")) {
      handle(request, response);
      return;
    }
    interact(provider, request, response).catch((error) => {
      response.writeHead(400).end(String(error));
    });
  });
  console.log(issuer);
});
process.stdin.on("end", () => process.exit(0)).resume();
