/** People at a node: the first admin, others by invitation, each with the cookie that a browser would keep. */
import assert from 'node:assert/strict'
import { NODE_TOKEN, type ConsoleNode, type ControlAnswer, type ControlOptions } from './console-node.ts'

export const PASSWORD = 'correct horse battery staple'

export interface Browser {
  readonly email: string
  cookie: string
  /** As a page of the console asks: with the cookie, and with its Origin on a change. */
  ask(method: string, path: string, body?: unknown, more?: ControlOptions): Promise<ControlAnswer>
}

export function cookieIn({ headers }: ControlAnswer): string {
  const [first = ''] = headers.getSetCookie()
  return first.split(';', 1)[0] ?? ''
}

export function browserWith(node: ConsoleNode, email: string, cookie: string): Browser {
  const browser: Browser = {
    email,
    cookie,
    ask: (method, path, body, more = {}) =>
      node.control(method, path, {
        ...(browser.cookie !== '' && { cookie: browser.cookie }),
        ...(method !== 'GET' && { origin: node.controlUrl }),
        ...(body !== undefined && { body }),
        ...more,
      }),
  }
  return browser
}

/** A member who was invited and accepted. */
export async function memberOf(
  node: ConsoleNode,
  email: string,
  role: string,
  projects: readonly string[] | null = null,
): Promise<Browser> {
  const invited = await node.control('POST', '/invitations', {
    token: NODE_TOKEN,
    body: { email, role, projects },
  })
  assert.equal(invited.status, 201, invited.text)
  const token = String(invited.body['link']).split('/').at(-1)
  const browser = browserWith(node, email, '')
  const accepted = await browser.ask('POST', '/invitations/accept', {
    token,
    name: email,
    password: PASSWORD,
  })
  assert.equal(accepted.status, 204, accepted.text)
  browser.cookie = cookieIn(accepted)
  return browser
}

export async function signIn(
  node: ConsoleNode,
  email: string,
  password = PASSWORD,
  headers: Record<string, string> = {},
): Promise<ControlAnswer> {
  return node.control('POST', '/session', { origin: node.controlUrl, body: { email, password }, headers })
}
