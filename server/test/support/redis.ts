/** A separate Redis for each test file, which can be killed, paused and started again on the same port. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { createClient } from '@redis/client'
import { PATIENCE_MS } from './patience.ts'
import { freePort } from './servers.ts'

export interface RedisServer {
  readonly url: string
  readonly port: number
  /** As when the machine loses it: no goodbye, nothing saved. */
  kill9(): Promise<void>
  /** Starts it again on the same port, empty. */
  restart(): Promise<void>
  /** It keeps its connections and answers nothing. */
  pause(): void
  resume(): void
  stop(): Promise<void>
  /** One command over a separate connection. */
  command(...args: readonly string[]): Promise<unknown>
}

/** Gone after the tests at the latest. */
export async function startRedis(): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), 'torana-redis-'))
  const port = await freePort()
  let child = await launch(folder, port)
  const end = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const closed = once(child, 'close')
    child.kill('SIGKILL')
    await closed
  }
  after(async () => {
    await end()
    rmSync(folder, { recursive: true, force: true })
  })
  const url = `redis://127.0.0.1:${port}`
  return {
    url,
    port,
    kill9: end,
    restart: async () => {
      await end()
      child = await launch(folder, port)
    },
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    stop: end,
    command: async (...args) => {
      const client = await createClient({ url }).connect()
      try {
        return await client.sendCommand([...args])
      } finally {
        client.destroy()
      }
    },
  }
}

async function launch(folder: string, port: number): Promise<ChildProcess> {
  const settings = { port, bind: '127.0.0.1', dir: folder, save: '', appendonly: 'no' }
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])
  const child = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  await new Promise<void>((resolve, reject) => {
    const fail = (why: string) => reject(new Error(`redis-server ${why}: ${output}`))
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      fail(`was not ready within ${PATIENCE_MS} ms`)
    }, PATIENCE_MS)
    child.once('error', reject)
    child.once('exit', () => fail('ended'))
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      if (!output.includes('Ready to accept connections')) return
      clearTimeout(timer)
      resolve()
    })
  })
  return child
}
