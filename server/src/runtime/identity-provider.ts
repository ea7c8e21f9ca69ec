/** OpenID Connect with an identity provider: the code flow with PKCE, a state and a nonce. */
import * as oidc from 'openid-client'
import type { Claims } from '#core/access/sign-on-rules.ts'
import { IdentityProviderFailed, type SignOnSettings, type SignOnTrip } from '#ports/sign-on.ts'

/** A person waits for the provider. */
const TIMEOUT_S = 10
/** Time for which a provider's keys are cached; openid-client fetches them again when it meets an unknown one. */
const REMEMBERED_MS = 600_000
const SCOPE = 'openid email profile'

export type IdentityProvider = ReturnType<typeof openidProvider>

/** Both questions reject with `IdentityProviderFailed`. */
export function openidProvider(nowMs: () => number) {
  let last:
    | { readonly of: string; readonly untilMs: number; readonly found: Promise<oidc.Configuration> }
    | undefined
  const discovered = (settings: SignOnSettings): Promise<oidc.Configuration> => {
    const of = JSON.stringify([settings.issuer, settings.clientId, settings.clientSecret])
    if (last?.of !== of || last.untilMs < nowMs())
      last = { of, untilMs: nowMs() + REMEMBERED_MS, found: discover(settings) }
    const { found } = last
    // A failure is not cached: the provider may be reachable the next time.
    found.catch(() => {
      if (last?.found === found) last = undefined
    })
    return found
  }
  return {
    /** `url` is where the browser goes. */
    begin: (
      settings: SignOnSettings,
      redirectUrl: string,
    ): Promise<{ readonly url: string; readonly trip: SignOnTrip }> =>
      withProviderError('could not be asked', async () => {
        const configuration = await discovered(settings)
        const trip = {
          state: oidc.randomState(),
          nonce: oidc.randomNonce(),
          verifier: oidc.randomPKCECodeVerifier(),
        }
        const url = oidc.buildAuthorizationUrl(configuration, {
          redirect_uri: redirectUrl,
          scope: SCOPE,
          state: trip.state,
          nonce: trip.nonce,
          code_challenge: await oidc.calculatePKCECodeChallenge(trip.verifier),
          code_challenge_method: 'S256',
        })
        return { url: url.href, trip }
      }),
    /** `url` is the address that the browser came back to, with its query. */
    finish: (settings: SignOnSettings, url: URL, { state, nonce, verifier }: SignOnTrip): Promise<Claims> =>
      withProviderError('was not believed', async () => {
        const configuration = await discovered(settings)
        const tokens = await oidc.authorizationCodeGrant(configuration, url, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        })
        const claims = tokens.claims()
        if (claims === undefined) throw new Error('it sent no ID token')
        const { userinfo_endpoint: userinfo } = configuration.serverMetadata()
        if (userinfo === undefined) return claims
        // Some providers send groups and mail addresses only here. The signed token takes precedence.
        const more = await oidc.fetchUserInfo(configuration, tokens.access_token, claims.sub)
        return { ...more, ...claims }
      }),
  }
}

function discover({ issuer, clientId, clientSecret }: SignOnSettings): Promise<oidc.Configuration> {
  const url = new URL(issuer)
  const isPlain = url.protocol === 'http:'
  return oidc.discovery(
    url,
    clientId,
    undefined,
    clientSecret === undefined ? oidc.None() : oidc.ClientSecretPost(clientSecret),
    {
      timeout: TIMEOUT_S,
      // Only for a provider on this machine: the route refuses others without TLS.
      execute: isPlain ? [oidc.allowInsecureRequests] : [],
    },
  )
}

async function withProviderError<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (cause) {
    const { message, error_description: description } = cause as Error & { error_description?: string }
    throw new IdentityProviderFailed(`The identity provider ${what}: ${description ?? message}`, { cause })
  }
}
