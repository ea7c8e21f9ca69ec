/** A real OpenID Connect provider on loopback, whose people sign in by their name alone. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { atEnd } from './at-end.ts'
import { Provider } from 'oidc-provider'

export const CLIENT = { id: 'torana', secret: 'the-secret-of-torana-at-its-provider' }

export interface TestProvider {
  readonly issuer: string
  /** Walks through a sign-on as a browser would, from an address of the console to the one it ends at. */
  walk(url: string, as: string, cookies?: Map<string, string>): Promise<Walked>
}

export interface Walked {
  /** The last answer of the console. */
  readonly status: number
  readonly location: string | null
  readonly text: string
  /** Of the console. */
  readonly cookies: Map<string, string>
}

type Person = Readonly<Record<string, unknown>>

/** `people`: claims by the name they sign in with. */
export async function startIdentityProvider(
  people: Readonly<Record<string, Person>>,
  redirectUris: readonly string[],
): Promise<TestProvider> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  atEnd(() => server.close())
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [...redirectUris],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
    features: { devInteractions: { enabled: true } },
    pkce: { required: () => true },
    findAccount: (_, id) => ({ accountId: id, claims: async () => ({ sub: id, ...people[id] }) }),
  })
  const answer = provider.callback()
  server.on('request', (request, response) => void answer(request, response))
  return { issuer, walk: (url, as, cookies = new Map()) => walk(url, as, issuer, cookies) }
}

/** Far more than a sign-on takes. */
const STEPS = 20

async function walk(
  url: string,
  as: string,
  issuer: string,
  consoleCookies: Map<string, string>,
): Promise<Walked> {
  const providerCookies = new Map<string, string>()
  let next = { url, body: undefined as URLSearchParams | undefined }
  for (let step = 0; step < STEPS; step += 1) {
    const isProvider = next.url.startsWith(issuer)
    const cookies = isProvider ? providerCookies : consoleCookies
    const answer = await fetch(next.url, {
      redirect: 'manual',
      headers: {
        accept: 'text/html',
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      },
      ...(next.body && { method: 'POST', body: next.body }),
    })
    keep(answer, cookies)
    const text = await answer.text()
    const location = answer.headers.get('location')
    const isHome = !isProvider && (location === null || !location.startsWith(issuer))
    if (isHome) return { status: answer.status, location, text, cookies: consoleCookies }
    next =
      location === null
        ? formIn(text, next.url, as)
        : { url: new URL(location, next.url).href, body: undefined }
  }
  throw new Error('the sign-on goes in circles')
}

/** The provider's own pages: sign-in and consent. */
function formIn(page: string, url: string, as: string) {
  const action = /<form[^>]*action="([^"]+)"/.exec(page)?.[1]
  if (action === undefined) throw new Error(`no form: ${page.slice(0, 2000)}`)
  const prompt = /name="prompt" value="([^"]+)"/.exec(page)?.[1] ?? 'login'
  return {
    url: new URL(action, url).href,
    body: new URLSearchParams({ prompt, ...(prompt === 'login' && { login: as, password: 'x' }) }),
  }
}

function keep(answer: Response, cookies: Map<string, string>): void {
  for (const line of answer.headers.getSetCookie()) {
    const [pair = ''] = line.split(';', 1)
    const at = pair.indexOf('=')
    const [name, value] = [pair.slice(0, at), pair.slice(at + 1)]
    if (value === '') cookies.delete(name)
    else cookies.set(name, value)
  }
}
