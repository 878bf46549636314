// An authorization server on loopback: `node provider.mjs <folder with node_modules> <options as JSON>`.
//
// Refresh tokens rotate, and one that is shown twice revokes its whole family. What it was asked is at /control/heard;
// the other pages of /control change what it does, which no client may do.

import { pathToFileURL } from 'node:url';

const [folder, text] = process.argv.slice(2);
const options = JSON.parse(text); // port, issuer, secret of the server that introspects, whether PKCE is announced
const { default: Provider } = await import(pathToFileURL(`${folder}/node_modules/oidc-provider/lib/index.js`));

const heard = [];
const grants = new Set();
let seconds = options.seconds;
let delay = 0;

const provider = new Provider(options.issuer, {
  clients: [
    {
      client_id: 'guard',
      client_secret: options.secret,
      redirect_uris: [],
      response_types: [],
      grant_types: [],
    },
  ],
  clientDefaults: { grant_types: ['authorization_code', 'refresh_token'] },
  scopes: ['openid', 'offline_access', 'tides'],
  rotateRefreshToken: true,
  ttl: { AccessToken: () => seconds, Grant: 3600, Interaction: 600, RefreshToken: 3600, Session: 3600 },
  features: {
    deviceFlow: { enabled: true },
    introspection: { enabled: true, allowedPolicy: (ctx, client) => client.clientId === 'guard' },
    registration: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (ctx, resource) => ({
        scope: 'tides',
        audience: resource,
        accessTokenFormat: 'opaque',
        accessTokenTTL: seconds,
      }),
    },
    revocation: { enabled: true },
  },
});

provider.on('grant.success', (ctx) => grants.add(ctx.oidc.entities.AccessToken.grantId));
provider.on('grant.revoked', () => heard.push('family revoked'));
provider.on('server_error', (ctx, error) => console.error(error));

provider.use(async (ctx, next) => {
  if (ctx.path.startsWith('/control/')) {
    ctx.body = await control(ctx.path, ctx.query);
    return;
  }
  await next();
  if (!options.pkce && ctx.path.startsWith('/.well-known/')) {
    delete ctx.body.code_challenge_methods_supported;
  }
  const grant = ctx.oidc?.params?.grant_type?.split(':').pop();
  heard.push([ctx.method, ctx.path, grant, ctx.status].filter(Boolean).join(' '));
  if (ctx.path === '/token') {
    // The old token is used up by now, and the client does not have the new one yet.
    await new Promise((resolve) => setTimeout(resolve, delay * 1000));
  }
});

async function control(path, query) {
  if (path === '/control/hold') {
    seconds = Number(query.seconds);
  } else if (path === '/control/delay') {
    delay = Number(query.seconds);
  } else if (path === '/control/withdraw') {
    // As on the page of an account where a person takes back what they allowed a program.
    for (const grant of grants) {
      await provider.AccessToken.revokeByGrantId(grant);
      await provider.RefreshToken.revokeByGrantId(grant);
      await provider.Grant.adapter.destroy(grant);
    }
  }
  return heard;
}

provider.listen(options.port, '127.0.0.1');
