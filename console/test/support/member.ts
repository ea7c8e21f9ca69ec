/** A person who was invited and signed in, over the API: for tests and pictures that are not about signing in. */

export type Role = 'developer' | 'operator' | 'admin'

export interface Member {
  readonly role: Role
  readonly name: string
  readonly email: string
  /** Of a developer. */
  readonly projects?: readonly string[]
}

const PASSWORD = 'a long password of these tests'

/** By address of the node and mail: each is invited once. */
const cookies = new Map<string, Promise<string>>()

/** `torana=…`, as the browser would send it. */
export function memberCookie(url: string, member: Member, adminToken: string): Promise<string> {
  const key = `${url} ${member.email}`
  let cookie = cookies.get(key)
  if (cookie === undefined) cookies.set(key, (cookie = invited(url, member, adminToken)))
  return cookie
}

async function invited(
  url: string,
  { role, name, email, projects }: Member,
  adminToken: string,
): Promise<string> {
  const invitation = await post(`${url}/api/v1/invitations`, {
    headers: { authorization: `Bearer ${adminToken}` },
    body: { email, role, ...(role === 'developer' && { projects }) },
  })
  const { link } = (await invitation.json()) as { link: string }
  const accepted = await post(`${url}/api/v1/invitations/accept`, {
    headers: { origin: new URL(url).origin },
    body: { token: link.split('/').at(-1), name, password: PASSWORD },
  })
  const cookie = accepted.headers.getSetCookie()[0]?.split(';', 1)[0]
  if (cookie === undefined) throw new Error(`${email} was invited and is not signed in`)
  return cookie
}

async function post(
  url: string,
  { headers, body }: { readonly headers: Record<string, string>; readonly body: unknown },
): Promise<Response> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`)
  return answer
}
