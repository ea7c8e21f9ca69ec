/** Commands talk to the running node, never to its database. */
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { environmentVariables } from '#config/environment.ts'
import { readText } from '#config/file/variable.ts'
import { lookUp, reasonOf, type Environment } from '#config/file/variable.ts'
import { ADMIN_TOKEN_FILE } from '#runtime/secret.ts'

/** Something a person can mend: printed without a stack. */
export class CommandProblem extends Error {
  override readonly name = 'CommandProblem'
  /** What the node answered with, if it answered. */
  readonly status: number | undefined

  constructor(message: string, status?: number) {
    super(message)
    this.status = status
  }
}

/** Longer than the node itself waits for its store. */
const ANSWER_MS = 30_000

interface Token {
  readonly value: string
  /** Where it was read. */
  readonly source: string
}

export class ControlClient {
  readonly #url: string
  readonly #token: Token

  constructor(url: string, token: Token) {
    this.#url = url
    this.#token = token
  }

  async ask<Body>(method: string, path: string, body?: unknown, answerMs = ANSWER_MS): Promise<Body> {
    const answer = await this.#send(method, path, body, answerMs)
    const text = await answer.text()
    if (answer.status === 401)
      throw new CommandProblem(`The node at ${this.#url} refused the token of ${this.#token.source}.`)
    if (answer.ok) return (text === '' ? undefined : JSON.parse(text)) as Body
    throw new CommandProblem(
      messageIn(text) ??
        `${this.#url} answered ${answer.status}. Is it the control listener (CONTROL_PORT) of a Torana node?`,
      answer.status,
    )
  }

  /** All pages of a list. */
  async list<Item>(path: string, cursorOf: (item: Item) => string): Promise<Item[]> {
    const items: Item[] = []
    for (let after = ''; ;) {
      const query = new URLSearchParams({ limit: '1000', ...(after && { after }) })
      const separator = path.includes('?') ? '&' : '?'
      const page = await this.ask<{ data: Item[]; has_more: boolean }>(
        'GET',
        `${path}${separator}${query.toString()}`,
      )
      items.push(...page.data)
      const last = page.data.at(-1)
      if (!page.has_more || last === undefined) return items
      after = cursorOf(last)
    }
  }

  async #send(method: string, path: string, body: unknown, answerMs: number): Promise<Response> {
    try {
      return await fetch(`${this.#url}/api/v1${path}`, {
        method,
        headers: {
          authorization: `Bearer ${this.#token.value}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        // The token goes to this address and no other.
        redirect: 'error',
        signal: AbortSignal.timeout(answerMs),
      })
    } catch (error) {
      const { cause = error } = error as Error
      throw new CommandProblem(
        `No node answers at ${this.#url} (${reasonOf(cause)}). Start one with \`torana start\`, or give its address with --url.`,
      )
    }
  }
}

/** `url`: where the control listener answers; by default where the environment puts it. */
export function openControl(url: string | undefined, env: Environment, cwd: string): ControlClient {
  return new ControlClient(url?.replace(/\/+$/, '') ?? defaultUrl(env), findToken(env, cwd))
}

function defaultUrl(env: Environment): string {
  const host = env['CONTROL_HOST'] || environmentVariables.CONTROL_HOST.default
  const port = env['CONTROL_PORT'] || environmentVariables.CONTROL_PORT.default
  if (port === '0')
    throw new CommandProblem(
      'CONTROL_PORT is 0, so the port is not known. Give the address of the node with --url.',
    )
  const reachable: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' }
  const name = reachable[host] ?? host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}

function findToken(env: Environment, cwd: string): Token {
  const given = lookUp('TORANA_ADMIN_TOKEN', env, readText)
  if ('problem' in given) throw new CommandProblem(given.problem)
  if (given.value) return { value: given.value, source: 'TORANA_ADMIN_TOKEN' }
  const dataDir = resolve(cwd, env['TORANA_DATA_DIR'] || environmentVariables.TORANA_DATA_DIR.default)
  const file = join(dataDir, ADMIN_TOKEN_FILE)
  if (!existsSync(file))
    throw new CommandProblem(
      `There is no admin token. Set TORANA_ADMIN_TOKEN, or set TORANA_DATA_DIR to the data folder of the node (${file} does not exist).`,
    )
  return { value: readFileSync(file, 'utf8').trim(), source: file }
}

function messageIn(text: string): string | undefined {
  try {
    const { error } = JSON.parse(text) as { error?: { message?: string } }
    return error?.message
  } catch {
    return undefined
  }
}
