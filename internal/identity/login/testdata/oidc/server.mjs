// An OpenID provider on a free port of loopback, for tests: anybody logs in
// with their name and any password.
//
//   node server.mjs '{"redirect": "<redirect URI>", "ready": "<file>", "inToken": true, "accounts": {"ann": {"email": …}}}'
//
// The file is written when the provider answers and holds its issuer. inToken
// puts the e-mail address into the ID token rather than on the userinfo page.
import { renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { Provider } from 'oidc-provider';

const { redirect, ready, inToken, accounts } = JSON.parse(process.argv[2]);

const server = createServer();
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients: [{ client_id: 'dateline', client_secret: 'a secret: with+signs%', redirect_uris: [redirect] }],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    conformIdTokenClaims: !inToken,
    cookies: { keys: ['only for tests'] },
    pkce: { required: () => true },
    findAccount: (_ctx, id) => accounts[id] && { accountId: id, claims: () => ({ sub: id, ...accounts[id] }) },
  });
  server.on('request', provider.callback());
  writeFileSync(`${ready}.new`, issuer);
  renameSync(`${ready}.new`, ready);
});
