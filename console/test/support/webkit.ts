/**
 * WebKit, Safari's engine, before a real node: Debian's `webkit2gtk-driver` by WebDriver, on a screen of Xvfb. It runs with
 * the language `C`, as a bare machine does, which is no language tag.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { after } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

const DRIVER = '/usr/bin/WebKitWebDriver'
const [BROWSER] = globSync('/usr/lib/*/webkit2gtk-*/MiniBrowser')

/** How long the driver may take to start. A loaded machine needs several seconds. */
const DRIVER_WITHIN_MS = 30_000
/** How long one command of the driver may take: longer, and it hangs. */
const ANSWERED_WITHIN_MS = 30_000
const LOOK_MS = 100

export interface WebKit {
  readonly version: string
  /** Leads the browser to an address. */
  readonly open: (url: string) => Promise<void>
  /** The value of a function body, run in the page. */
  readonly evaluate: <Value>(script: string) => Promise<Value>
  /** Runs it until it answers with something. Undefined: it did not, in that time. */
  readonly until: <Value>(script: string, withinMs: number) => Promise<Value | undefined>
  /** For the address that is open. */
  readonly addCookie: (cookie: string) => Promise<void>
}

/** Ends with the test file. Undefined: this machine has none. */
export async function startWebKit(): Promise<WebKit | undefined> {
  if (!existsSync(DRIVER) || BROWSER === undefined || !existsSync('/usr/bin/Xvfb')) return undefined
  const { screen, display } = await startScreen()
  const port = await freePort()
  const child = spawn(DRIVER, [`--port=${port}`, '--host=127.0.0.1'], {
    stdio: 'ignore',
    env: {
      ...process.env,
      DISPLAY: display,
      LANG: 'C',
      LC_ALL: 'C',
      LANGUAGE: 'C',
      TZ: 'UTC',
      LIBGL_ALWAYS_SOFTWARE: '1',
      WEBKIT_DISABLE_COMPOSITING_MODE: '1',
      // Tests may run as root, which its sandbox refuses.
      WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1',
    },
  })
  const driver = `http://127.0.0.1:${port}`
  await listening(driver)
  const { sessionId, capabilities } = await asked<Session>('POST', `${driver}/session`, {
    capabilities: {
      alwaysMatch: { 'webkitgtk:browserOptions': { binary: BROWSER, args: ['--automation'] } },
    },
  })
  const session = `${driver}/session/${sessionId}`
  after(async () => {
    await asked('DELETE', session)
    child.kill()
    screen.kill()
  })
  const evaluate = <Value>(script: string): Promise<Value> =>
    asked('POST', `${session}/execute/sync`, { script, args: [] })
  return {
    version: `${capabilities.browserName} ${capabilities.browserVersion}`,
    open: (url) => asked('POST', `${session}/url`, { url }),
    evaluate,
    async until<Value>(script: string, withinMs: number) {
      for (const endMs = performance.now() + withinMs; performance.now() < endMs; await sleep(LOOK_MS)) {
        const value = await evaluate<Value | null>(script)
        if (value !== null) return value
      }
    },
    addCookie: (cookie) => {
      const [name, value] = cookie.split(/=(.*)/s)
      return asked('POST', `${session}/cookie`, { cookie: { name, value, path: '/', httpOnly: true } })
    },
  }
}

interface Session {
  readonly sessionId: string
  readonly capabilities: { readonly browserName: string; readonly browserVersion: string }
}

/** A screen with a name that no other process has. */
async function startScreen(): Promise<{ screen: ChildProcess; display: string }> {
  const screen = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '1440x900x24', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  })
  const [number] = (await once(screen.stdio[3] as NodeJS.ReadableStream, 'data')) as [Buffer]
  return { screen, display: `:${number.toString().trim()}` }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function listening(driver: string): Promise<void> {
  for (const endMs = performance.now() + DRIVER_WITHIN_MS; ; await sleep(LOOK_MS))
    try {
      await fetch(`${driver}/status`)
      return
    } catch (error) {
      if (performance.now() > endMs) throw error
    }
}

async function asked<Value>(method: string, url: string, body?: unknown): Promise<Value> {
  const answer = await fetch(url, {
    method,
    signal: AbortSignal.timeout(ANSWERED_WITHIN_MS),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const { value } = (await answer.json()) as { value: Value }
  if (!answer.ok) throw new Error(`${method} ${url}: ${JSON.stringify(value).slice(0, 400)}`)
  return value
}
