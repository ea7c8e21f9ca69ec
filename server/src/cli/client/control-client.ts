/** Commands talk to the running node, never to its database. */
import { existsSync, readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import type { Response } from 'undici'
import { ADMIN_TOKEN_OFF, environmentVariables } from '#config/variables.ts'
import { readText } from '#config/file/variable.ts'
import { lookUp, reasonOf, type Environment } from '#config/file/variable.ts'
import { controlSocketOf, isOwnSocket, ownSocketsIn, pathProblem } from '#runtime/control-socket.ts'
import { ADMIN_TOKEN_FILE } from '#runtime/secret.ts'
import { CommandProblem } from './command-problem.ts'
import { isStarting } from './starting.ts'

/** Longer than the node itself waits for its store. */
const ANSWER_MS = 30_000

interface Page<Item> {
  readonly data: readonly Item[]
  readonly has_more: boolean
  readonly next?: string | null
}

/** How a list is read page by page. */
export interface Paging {
  readonly perPage: number
  /** Query parameter that takes the cursor; `after` by default. */
  readonly parameter?: 'after' | 'before' | 'cursor'
  /** Field of the last item that is the cursor, where the answer has no `next`. */
  readonly field?: string
}

interface Token {
  readonly value: string
  /** Where it was read. */
  readonly source: string
}

/** Where a node answers: at a URL, or by its socket. */
interface Place {
  /** For people. */
  readonly name: string
  readonly url: string
  readonly socket?: string
}

export class ControlClient {
  readonly #find: () => Promise<readonly [Place, Token]>

  /** The node is found when it is asked, so a command can be refused without one. */
  constructor(choice: ControlChoice, env: Environment, cwd: string) {
    this.#find = () => nodeOf(choice, env, cwd)
  }

  async ask<Body>(method: string, path: string, body?: unknown, answerMs = ANSWER_MS): Promise<Body> {
    const answer = await this.open(method, path, body, answerMs)
    const text = await answer.text()
    return (text === '' ? undefined : JSON.parse(text)) as Body
  }

  /** The answer itself, for what is too long to be read at once. */
  async open(method: string, path: string, body?: unknown, answerMs = ANSWER_MS): Promise<Response> {
    const [{ name, url, socket }, token] = await this.#find()
    const { Agent, fetch } = await import('undici')
    const answer = await fetch(`${url}/api/v1${path}`, {
      ...(socket !== undefined && { dispatcher: new Agent({ connect: { socketPath: socket } }) }),
      method,
      headers: {
        authorization: `Bearer ${token.value}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      // The token goes to this address and no other.
      redirect: 'error',
      signal: AbortSignal.timeout(answerMs),
    }).catch((error: Error) => {
      throw new CommandProblem(
        `No node answers at ${name} (${reasonOf(error.cause ?? error)}). Start one with \`torana start\`, or give its address with --url.`,
      )
    })
    if (answer.ok) return answer
    if (answer.status === 401)
      throw new CommandProblem(`The node at ${name} refused the token of ${token.source}.`)
    throw new CommandProblem(
      messageIn(await answer.text()) ??
        `${name} answered ${answer.status}. Is it the control listener (CONTROL_PORT) of a Torana node?`,
      answer.status,
    )
  }

  /** Items of a paged list, up to `maxItems`. */
  async items<Item>(
    path: string,
    query: URLSearchParams,
    { perPage, parameter = 'after', field = '' }: Paging,
    maxItems = Infinity,
  ): Promise<Item[]> {
    const items: Item[] = []
    for (;;) {
      query.set('limit', String(Math.min(perPage, maxItems - items.length)))
      const page = await this.ask<Page<Item>>('GET', `${path}?${query.toString()}`)
      items.push(...page.data)
      const last = page.data.at(-1) as Readonly<Record<string, unknown>> | undefined
      if (!page.has_more || last === undefined || items.length >= maxItems) return items
      query.set(parameter, page.next ?? String(last[field]))
    }
  }
}

/** What was said on the command line. */
interface ControlChoice {
  /** Where the control listener answers; by default the node of the data folder. */
  readonly url: string | undefined
  readonly token: string | undefined
}

async function nodeOf(
  choice: ControlChoice,
  env: Environment,
  cwd: string,
): Promise<readonly [Place, Token]> {
  const address = choice.url?.replace(/\/+$/, '')
  try {
    const token =
      choice.token === undefined ? findToken(choice, env, cwd) : { value: choice.token, source: '--token' }
    return [address === undefined ? placeOf(env, cwd) : { name: address, url: address }, token]
  } catch (error) {
    // Token and socket come late in a start.
    if (await isStarting(address ?? ownAddress(env)))
      throw new CommandProblem('This node is starting. Try again in a moment.')
    throw error
  }
}

function ownAddress(env: Environment): string {
  const host = env['CONTROL_HOST'] || environmentVariables.CONTROL_HOST.default
  const port = env['CONTROL_PORT'] || environmentVariables.CONTROL_PORT.default
  return urlOf(host, port)
}

/** Addresses of this machine, whose ports every user of it can take. */
const OWN_HOST = /^(?:127\.|0\.0\.0\.0$|::1?$|localhost$)/

/** The token goes to the owner of the data folder by its socket, or to where a person says: never to just any listener on a port. */
function placeOf(env: Environment, cwd: string): Place {
  const host = env['CONTROL_HOST'] || environmentVariables.CONTROL_HOST.default
  const port = env['CONTROL_PORT'] || environmentVariables.CONTROL_PORT.default
  if (port === '0')
    throw new CommandProblem(
      'CONTROL_PORT is 0, so the port is not known. Give the address of the node with --url.',
    )
  const address = ownAddress(env)
  const atPort = { name: address, url: address }
  // Windows has no such sockets.
  if (process.getuid === undefined) return atPort
  const dataDir = dataDirOf(env, cwd)
  const socket = controlSocketOf(dataDir, port)
  const isOwn = isOwnSocket(socket, dataDir)
  if (isOwn === true) return { name: socket, url: 'http://localhost', socket }
  if (isOwn === undefined && !OWN_HOST.test(host)) return atPort
  const others = isOwn === undefined ? ownSocketsIn(dataDir) : []
  const [only, second] = others
  // A port that a person named is that of one node, and no other will do.
  if (only !== undefined && second === undefined && !env['CONTROL_PORT'])
    return { name: only, url: 'http://localhost', socket: only }
  const why =
    isOwn === false
      ? `${socket} is not the socket of a node of yours, so it is not sent the token.`
      : others.length > 0
        ? `${socket} does not exist. In the data folder are ${others.map((path) => basename(path)).join(', ')}: set CONTROL_PORT to the number of one.`
        : `No node runs on the data folder ${dataDir}: ${pathProblem(socket) ?? `${socket} does not exist`}.`
  throw new CommandProblem(
    `${why} Start a node with \`torana start\`, or set TORANA_DATA_DIR and CONTROL_PORT as the node has them. For a node elsewhere, give its address: --url ${address}`,
  )
}

function urlOf(host: string, port: string): string {
  const reachable: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' }
  const name = reachable[host] ?? host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}

function dataDirOf(env: Environment, cwd: string): string {
  return resolve(cwd, env['TORANA_DATA_DIR'] || environmentVariables.TORANA_DATA_DIR.default)
}

function findToken({ url }: ControlChoice, env: Environment, cwd: string): Token {
  const given = lookUp('TORANA_ADMIN_TOKEN', env, readText)
  if ('problem' in given) throw new CommandProblem(given.problem)
  if (given.value && given.value !== ADMIN_TOKEN_OFF)
    return { value: given.value, source: 'TORANA_ADMIN_TOKEN' }
  const dataDir = dataDirOf(env, cwd)
  const file = join(dataDir, ADMIN_TOKEN_FILE)
  if (!existsSync(file))
    throw new CommandProblem(
      url === undefined && !existsSync(dataDir)
        ? `No node uses ${dataDir}. Run this in the folder where Torana started, or set TORANA_DATA_DIR. For a node elsewhere, set TORANA_ADMIN_TOKEN and give --url.`
        : `There is no admin token. Set TORANA_ADMIN_TOKEN, or set TORANA_DATA_DIR to the data folder of the node (${file} does not exist).`,
    )
  return { value: readFileSync(file, 'utf8').trim(), source: file }
}

function messageIn(text: string): string | undefined {
  try {
    const { error } = JSON.parse(text) as { error?: { message?: string; code?: string } }
    // Another port of a node, or a path before the API's: its message would name a path that the user did not type.
    return error?.code === 'unknown_path' ? undefined : error?.message
  } catch {
    return undefined
  }
}
