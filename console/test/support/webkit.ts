/**
 * WebKit, Safari's engine, where Playwright has no build of it: Debian's `webkit2gtk-driver` by WebDriver, on a screen of Xvfb.
 * It runs with the language `C`, as a bare machine does, which is no language tag.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { WEBKIT_BROWSER, WEBKIT_DRIVER } from './engines.ts'
import { startProbe } from './probe.ts'
import { heightOf, type Visitor, type VisitorOptions } from './visitor.ts'

/** How long the driver may take to start. A loaded machine needs several seconds. */
const DRIVER_WITHIN_MS = 30_000
/** How long one command of the driver may take: longer, and it hangs. */
const ANSWERED_WITHIN_MS = 60_000
const RESIZED_WITHIN_MS = 10_000
const LOOK_MS = 100
/** The bar of the browser would not fit into the width of a phone. */
const SMALL_BAR =
  '* { min-width: 0; min-height: 0; padding: 0; margin: 0; border-width: 0; font-size: 4px; -gtk-icon-transform: scale(0.5) }'

export async function webkitVisitor({ url, zone, theme }: VisitorOptions): Promise<Visitor> {
  const folder = mkdtempSync(join(tmpdir(), 'torana-webkit-'))
  mkdirSync(join(folder, 'gtk-3.0'))
  writeFileSync(join(folder, 'gtk-3.0/gtk.css'), SMALL_BAR)
  const { screen, display } = await startScreen()
  const port = await freePort()
  const child = spawn(WEBKIT_DRIVER, [`--port=${port}`, '--host=127.0.0.1'], {
    stdio: 'ignore',
    env: {
      ...process.env,
      DISPLAY: display,
      XDG_CONFIG_HOME: folder,
      LANG: 'C',
      LC_ALL: 'C',
      LANGUAGE: 'C',
      TZ: zone,
      LIBGL_ALWAYS_SOFTWARE: '1',
      // Tests may run as root, which its sandbox refuses.
      WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1',
    },
  })
  const driver = `http://127.0.0.1:${port}`
  await listening(driver)
  const { sessionId, capabilities } = await asked<Session>('POST', `${driver}/session`, {
    capabilities: {
      alwaysMatch: { 'webkitgtk:browserOptions': { binary: WEBKIT_BROWSER, args: ['--automation'] } },
    },
  })
  const session = `${driver}/session/${sessionId}`
  const probe = await startProbe(url)
  const evaluate = <Value>(script: string): Promise<Value> =>
    asked('POST', `${session}/execute/sync`, { script, args: [] })
  const open = (address: string): Promise<void> => asked('POST', `${session}/url`, { url: address })
  // Storage and cookies belong to an address: it has to be open.
  const openSite = (): Promise<void> => open(`${probe.url}/mark.svg`)
  await openSite()
  await evaluate(`localStorage.setItem('torana.theme', '${theme}')`)
  const [outer = 0, inner = 0] = await evaluate<number[]>('return [outerHeight, innerHeight]')
  const barHeight = outer - inner
  const setWidth = async (width: number): Promise<void> => {
    const rect = { x: 0, y: 0, width, height: heightOf(width) + barHeight }
    await asked('POST', `${session}/window/rect`, rect)
    // The window follows a moment later.
    for (const endMs = performance.now() + RESIZED_WITHIN_MS; ; await sleep(LOOK_MS)) {
      const [innerWidth, innerHeight] = await evaluate<number[]>('return [innerWidth, innerHeight]')
      if (innerWidth === width && innerHeight === heightOf(width)) return
      if (performance.now() > endMs)
        throw new Error(`the window is ${innerWidth} px wide and ${innerHeight} px high`)
    }
  }
  return {
    url: probe.url,
    version: `WebKitGTK ${capabilities.browserVersion}`,
    open,
    setWidth,
    evaluate: (inPage) => evaluate(`return (${String(inPage)})()`),
    screenshot: async () => Buffer.from(await asked<string>('GET', `${session}/screenshot`), 'base64'),
    complaints: async () => [
      ...(await evaluate<string[]>(`return (globalThis.toranaComplaints ?? []).splice(0)`)),
      ...probe.refused.splice(0),
    ],
    signIn: async (cookie) => {
      await openSite()
      const [name, value] = cookie.split(/=(.*)/s)
      await asked('POST', `${session}/cookie`, { cookie: { name, value, path: '/', httpOnly: true } })
    },
    close: async () => {
      await asked('DELETE', session)
      child.kill()
      screen.kill()
      await probe.close()
      rmSync(folder, { recursive: true })
    },
  }
}

interface Session {
  readonly sessionId: string
  readonly capabilities: { readonly browserVersion: string }
}

/** A screen with a name that no other process has. */
async function startScreen(): Promise<{ screen: ChildProcess; display: string }> {
  const screen = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '1600x1200x24', '-nolisten', 'tcp'], {
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
