/** A caller that asks ten times a second until the tests are over. */
import { after } from 'node:test'
import { setInterval } from 'node:timers/promises'
import type { ConsoleNode } from '../../../server/test/support/console-node.ts'

export function askSteadily(node: ConsoleNode, model: string): void {
  const leaving = new AbortController()
  const asking = async (): Promise<void> => {
    for await (const _ of setInterval(100, undefined, { signal: leaving.signal }))
      await node.ask({ model, input: `text ${Math.random()}` }, { key: node.key })
  }
  const asked = asking().catch(() => {})
  after(async () => {
    leaving.abort()
    await asked
  })
}
