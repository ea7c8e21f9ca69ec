/** The one way of the control API to answer with a stream: it opens, counts, watches and closes. */
import { finished, Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { FairShare } from '#core/schedule/fair-share.ts'
import { Fault } from '#core/fault/fault.ts'
import { callerIn, type Caller } from './caller.ts'
import { endTurn } from './reading-turns.ts'

/** The pause between two looks at the rights of a stream's caller: with the look itself, a stream ends within two seconds. */
const RIGHTS_CHECK_MS = 1000

export interface StreamLimits {
  /** Slots of this node, for all callers together. */
  readonly slots: number
  /** One caller holds at most this many times the slots that stay free. Infinity: all of them. */
  readonly headroom: number
  /** The answer to a caller for which there is no slot. */
  readonly full: (caller: Caller) => Fault
}

export interface StreamedAnswer {
  readonly headers: Readonly<Record<string, string>>
  /** Slots that it takes; 1 unless given. */
  readonly slots?: number
  /** Opens what is streamed. What it puts on the stack is closed with the answer, or at once if opening fails. */
  readonly open: (opened: DisposableStack) => AsyncIterable<string | Uint8Array> | Promise<Readable>
}

export class StreamSlots {
  readonly #share: FairShare
  readonly #full: StreamLimits['full']

  constructor({ slots, headroom, full }: StreamLimits) {
    this.#share = new FairShare({ capacity: slots, headroom, maxWaiting: 0 })
    this.#full = full
  }

  /** A slot is held from before the opening until the answer has ended, however it ends. HEAD opens and takes nothing. */
  async answer(
    request: FastifyRequest,
    reply: FastifyReply,
    { headers, slots = 1, open }: StreamedAnswer,
  ): Promise<FastifyReply> {
    if (request.method === 'HEAD') return reply.headers(headers).send(Readable.from([]))
    const caller = callerIn(request)
    const slot = this.#share.take(caller.actor, slots)
    if (slot === undefined) throw this.#full(caller)
    endTurn(request)
    using opening = new DisposableStack()
    opening.use(slot)
    const opened = await open(opening)
    const body = opened instanceof Readable ? opened : Readable.from(opened, { objectMode: false })
    opening.defer(() => body.destroy())
    // Opening may take minutes.
    if ((await caller.isInForce?.()) === false) throw rightsChanged(caller)
    opening.use(watched(caller, (cause) => cutOff(reply, body, cause)))
    const held = opening.move()
    // Unlike the event `close`, this also fires for a client that left while the stream was opened.
    finished(reply.raw, () => held.dispose())
    // A fault in place of the first chunk is an answer of its own kind.
    body.once('error', () => {
      for (const name of Object.keys(headers)) void reply.removeHeader(name)
    })
    return reply.headers(headers).send(body)
  }
}

/** An answer that has begun ends without its last chunk, so that no client takes it for a whole one. */
function cutOff({ raw }: FastifyReply, body: Readable, cause: Error): void {
  if (raw.headersSent) raw.destroy()
  else body.destroy(cause)
}

/** Ends the answer once the rights of its caller have changed. */
function watched(caller: Caller, end: (cause: Error) => void): Disposable {
  let timer: NodeJS.Timeout | undefined
  let isOver = caller.isInForce === undefined
  const look = async (): Promise<void> => {
    if ((await caller.isInForce?.()) === false) end(rightsChanged(caller))
    else later()
  }
  const later = (): void => {
    if (isOver) return
    timer = setTimeout(() => {
      // Rights that can't be looked up are no rights: requests are refused then, too.
      look().catch((error: unknown) => end(error as Error))
    }, RIGHTS_CHECK_MS).unref()
  }
  later()
  return {
    [Symbol.dispose]() {
      isOver = true
      clearTimeout(timer)
    },
  }
}

function rightsChanged({ actor }: Caller): Fault {
  return new Fault(
    'forbidden',
    `The rights of ${actor} have changed since this answer was begun. Ask again with the present ones.`,
  )
}
