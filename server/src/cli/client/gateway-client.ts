/** Commands that use the public API, as an application does. */
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { lookUp, readText, reasonOf, type Environment } from '#config/file/variable.ts'
import { environmentVariables } from '#config/variables.ts'
import { CommandProblem } from './command-problem.ts'
import { waitForStart } from './starting.ts'

/** Longer than a node works on one request. */
const ANSWER_MS = 10 * 60_000

interface GatewayChoice {
  readonly url: string | undefined
  readonly key: string | undefined
}

interface ListedModel {
  readonly id: string
  readonly capabilities: { readonly kind: 'embedding' | 'image' }
}

export class GatewayClient {
  readonly #url: string
  readonly #key: string

  /** `url` without `/v1`. */
  constructor(url: string, key: string) {
    this.#url = url
    this.#key = key
  }

  get url(): string {
    return this.#url
  }

  async ask<Body>(path: string, body?: unknown): Promise<Body> {
    const json = { 'content-type': 'application/json' }
    const answer = await this.open(
      path,
      body === undefined ? { headers: json } : { method: 'POST', headers: json, body: JSON.stringify(body) },
    )
    const read = (await answer.json().catch(() => undefined)) as Body | undefined
    if (read !== undefined) return read
    throw new CommandProblem(`${this.#url} answered ${answer.status} without JSON.`, answer.status)
  }

  /** The answer itself, for what is too long to be read at once. */
  async open(path: string, init: RequestInit = {}): Promise<Response> {
    let answer: Response
    try {
      answer = await fetch(`${this.#url}/v1${path}`, {
        signal: AbortSignal.timeout(ANSWER_MS),
        ...init,
        headers: { authorization: `Bearer ${this.#key}`, ...(init.headers as Record<string, string>) },
        redirect: 'error',
      })
    } catch (error) {
      const { cause = error } = error as Error
      throw new CommandProblem(
        `No gateway answers at ${this.#url} (${reasonOf(cause)}). Start one with \`torana start\`, or give its address with --url.`,
      )
    }
    if (answer.ok) return answer
    const read = (await answer.json().catch(() => undefined)) as { error?: { message?: string } } | undefined
    throw new CommandProblem(read?.error?.message ?? `${this.#url} answered ${answer.status}.`, answer.status)
  }

  /** The one that was asked for, or the first of this kind that the key may use. */
  async model(asked: string | undefined, kind: 'embedding' | 'image'): Promise<string> {
    if (asked !== undefined) return asked
    const { data } = await this.ask<{ readonly data: readonly ListedModel[] }>('/models')
    const found = data.find(({ capabilities }) => capabilities.kind === kind)
    if (found === undefined) throw new CommandProblem(`This key may use no ${kind} model.`)
    return found.id
  }
}

/** A node that is starting has not made its key yet. */
export async function openGateway(
  choice: GatewayChoice,
  env: Environment,
  cwd: string,
): Promise<GatewayClient> {
  const given = choice.url ?? (env['TORANA_BASE_URL'] || ownUrl(env))
  const url = given.replace(/\/+$/, '').replace(/\/v1$/, '')
  await waitForStart(url)
  return new GatewayClient(url, keyFor(choice, env, cwd))
}

function ownUrl(env: Environment): string {
  const host = env['HOST'] || environmentVariables.HOST.default
  const port = env['PORT'] || environmentVariables.PORT.default
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host
  return `http://${reachable}:${port}`
}

function keyFor({ key }: GatewayChoice, env: Environment, cwd: string): string {
  const given = key ?? (env['TORANA_KEY'] || undefined)
  if (given !== undefined) return given
  const first = lookUp('TORANA_BOOTSTRAP_KEY', env, readText)
  if ('value' in first && first.value) return first.value
  const file = join(
    resolve(cwd, env['TORANA_DATA_DIR'] || environmentVariables.TORANA_DATA_DIR.default),
    'demo.key',
  )
  if (existsSync(file)) return readFileSync(file, 'utf8').trim()
  throw new CommandProblem(
    `There is no key to call with. Set TORANA_KEY, or make one with \`torana keys create\` (${file} does not exist).`,
  )
}
