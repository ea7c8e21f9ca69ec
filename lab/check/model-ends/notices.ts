/** The notices that must go out, worked out without code of the server, and those that came: by webhook, in logs and at the API. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

const MARKS = [90, 30, 14, 7, 1]

/** `model 30`. */
export type Notice = string

/** What two nodes must have sent after each day on which one of them ran. */
export class ExpectedNotices {
  /** Days until the end of each model, on the first day. */
  readonly #ends: ReadonlyMap<string, number>
  readonly sent = new Set<Notice>()

  constructor(ends: ReadonlyMap<string, number>) {
    this.#ends = ends
  }

  /** Of the marks that are reached, only the nearest to the end is announced. */
  passed(day: number): void {
    for (const [model, endDay] of this.#ends) {
      const mark = MARKS.findLast((days) => endDay - day <= days)
      if (mark !== undefined) this.sent.add(`${model} ${mark}`)
    }
  }
}

export interface Receiver {
  readonly url: (project: string) => string
  /** Deliveries by `project model days`. */
  readonly deliveries: ReadonlyMap<string, number>
  close(): void
}

interface Delivered {
  readonly type: string
  readonly data: { readonly model: string; readonly notice_days: number }
}

export async function startReceiver(): Promise<Receiver> {
  const deliveries = new Map<string, number>()
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const { type, data } = JSON.parse(body) as Delivered
      const name = `${(request.url ?? '').slice(1)} ${data.model} ${data.notice_days}`
      if (type === 'model.ending') deliveries.set(name, (deliveries.get(name) ?? 0) + 1)
      response.writeHead(204).end()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: (project) => `http://127.0.0.1:${port}/${project}`,
    deliveries,
    close: () => void server.close(),
  }
}

/** The notices in logs of nodes, as often as they are there. A start also warns of ends, without a number of days. */
export function noticesInLogs(logs: readonly string[]): Notice[] {
  return logs
    .flatMap((log) => log.split('\n'))
    .filter((line) => /^\{.* (?:ends|ended) on \d{4}-/.test(line))
    .flatMap((line) => {
      const { model, days } = JSON.parse(line) as { readonly model: string; readonly days?: number }
      return days === undefined ? [] : [`${model} ${days}`]
    })
}
