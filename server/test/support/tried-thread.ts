/** Runs in a worker thread or in a process: work of every kind that either may be asked for. */
import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { serve, type ThreadCall } from '#thread/serve.ts'

/** Another one in each thread. */
const identity = randomUUID()

const works = {
  identify: () => identity,
  async later({ ms, word }: { readonly ms: number; readonly word: string }) {
    await wait(ms)
    return word
  },
  fail(message: string): never {
    throw new TypeError(message)
  },
  crash() {
    process.nextTick(() => {
      throw new Error('the work broke the thread')
    })
    return new Promise<never>(() => {})
  },
  end: () => process.exit(3),
  /** A list in a list in a list: copying it to the other thread takes more stack than there is. */
  tangled() {
    let value: unknown[] = []
    for (let level = 0; level < 200_000; level += 1) value = [value]
    return value
  },
  wordless(): never {
    throw Object.defineProperty(new Error(), 'message', {
      get: () => {
        throw new Error('no words')
      },
    })
  },
  spin(): never {
    for (;;);
  },
  hoard(): never {
    for (const kept: number[][] = []; ;) kept.push(Array.from({ length: 100_000 }, () => Math.random()))
  },
  /** Two bytes per character, as a whole: V8 ends the process that allocates it. */
  oneLargeText(characters: number) {
    return JSON.parse(
      JSON.stringify(Array.from({ length: 64 }, (_, n) => `${n}€${'m'.repeat(characters)}`)),
    ) as string[]
  },
  buffers({ megabytes }: { readonly megabytes: number }) {
    const kept = Array.from({ length: megabytes }, () => Buffer.alloc(1_000_000, 1))
    const until = performance.now() + 2000
    while (performance.now() < until);
    return kept.length
  },
  about: () => ({
    pid: process.pid,
    parent: process.ppid,
    environment: { ...process.env },
    words: process.argv.slice(2),
  }),
  async count({ to }: { readonly to: number }, { tell }: ThreadCall<number>) {
    for (let number = 1; number <= to; number += 1) await tell(number)
    return 'done'
  },
  doubled(numbers: Float64Array<ArrayBuffer>, { handOver }: ThreadCall) {
    const answer = numbers.map((number) => number * 2)
    handOver([answer.buffer])
    return answer
  },
}

export type TriedWorks = typeof works
serve(works)
