/**
 * Requests that come at about the same time share one upstream call. Each keeps its own place in the books, its own share of
 * what the call used, and its own errors: a call refused for one bad text is taken apart until only its sender is left with it.
 */
import type { MicroBatching } from '#core/catalog.ts'
import { inputCount, joinInputs, type Input } from '#core/embedding/input.ts'
import { outOfTime, UpstreamFailure } from '#core/fault/failure.ts'
import type { Offer } from '#core/embedding/negotiate.ts'
import { attempt, type AccountedAnswer, type Share } from './attempt.ts'
import type { Turn, TurnAsked } from '../traffic/dispatch.ts'
import {
  endOf,
  isReady,
  offersAfter,
  readyFor,
  runsOf,
  serve,
  tokensAsked,
  type Served,
  type Serving,
} from './serve.ts'

interface Member {
  readonly serving: Serving
  readonly input: Input
  readonly slots: readonly number[]
  readonly resolve: (served: readonly Served[]) => void
  readonly reject: (error: unknown) => void
}

type Members = readonly [Member, ...Member[]]

interface Batch {
  readonly members: [Member, ...Member[]]
  items: number
  isLeaving: boolean
}

export class MicroBatches {
  readonly #open = new Map<string, Batch>()
  readonly #wait: (ms: number) => Promise<unknown>

  constructor(wait: (ms: number) => Promise<unknown>) {
    this.#wait = wait
  }

  /** Serves some distinct inputs of one request, together with whatever else comes soon. */
  join(
    serving: Serving,
    input: Input,
    slots: readonly number[],
    policy: MicroBatching,
  ): Promise<readonly Served[]> {
    const count = inputCount(input)
    // Full by itself: there is nothing to wait for. In a hurry: a shared call lasts only as long as each member has time.
    if (count >= policy.maxItems || isHurried(serving)) return serve(serving, input, slots)
    return new Promise((resolve, reject) => {
      const key = keyOf(serving, input, policy)
      const member: Member = { serving, input, slots, resolve, reject }
      const found = this.#open.get(key)
      if (found !== undefined && found.items + count <= policy.maxItems) {
        found.members.push(member)
        found.items += count
        if (found.items >= policy.maxItems) void this.#leave(key, found)
        return
      }
      if (found !== undefined) void this.#leave(key, found)
      const opened: Batch = { members: [member], items: count, isLeaving: false }
      this.#open.set(key, opened)
      void this.#wait(policy.maxWaitMs).then(() => this.#leave(key, opened))
    })
  }

  /** Whoever comes while it stands in line still gets in: one call is all that a busy deployment has to take. */
  async #leave(key: string, batch: Batch): Promise<void> {
    if (batch.isLeaving) return
    batch.isLeaving = true
    await serveTogether(batch.members, undefined, () => {
      if (this.#open.get(key) === batch) this.#open.delete(key)
    })
  }
}

/** What may share a call: the same model on the same terms, and texts with texts. */
function keyOf(
  { model, project, offers }: Serving,
  { kind }: Input,
  { acrossProjects }: MicroBatching,
): string {
  // All that a call says beside its inputs: it is sent in the words of one member for all.
  const terms = offers.map((offer) => ({ ...offer, deployment: identityOf(offer.deployment) }))
  return JSON.stringify([model.id, acrossProjects ? '' : project, kind, terms])
}

const identities = new WeakMap<object, number>()
let lastIdentity = 0

/** A deployment of another configuration is another one, also under the same name: it may lead elsewhere. */
function identityOf(deployment: Offer['deployment']): number {
  const known = identities.get(deployment) ?? (lastIdentity += 1)
  identities.set(deployment, known)
  return known
}

/** What came before, when this is not a batch's first call. */
interface Again {
  readonly turn: Turn<Offer> | Promise<Turn<Offer>>
  readonly offers: readonly Offer[]
  readonly tries: number
}

/** Never rejects: each member hears of its own end. `close` is called when nobody can join any more. */
async function serveTogether(all: Members, again?: Again, close?: () => void): Promise<void> {
  const [{ serving }] = all
  let turn: Turn<Offer>
  try {
    const pending = again?.turn ?? serving.dispatch.turn(serving.offers, askedTogether(all))
    turn = pending instanceof Promise ? await pending : pending
  } catch (error) {
    return rejectAll(all, error)
  } finally {
    close?.()
  }
  const { offer } = turn
  const members = withoutLate(all, offer)
  if (members === undefined) return turn.giveBack()
  try {
    const shares = await sharesOf(members, offer)
    if (runsOf(joinInputs(shares.map(({ inputs }) => inputs)), offer, serving).length > 1) {
      turn.giveBack()
      return serveApart(members)
    }
    const answers = await attempt(shares, offer, members.length > 1 ? 'float32' : serving.wantedForm)
    turn.end()
    for (const [index, { slots, resolve }] of members.entries())
      resolve([{ offer, slots, answer: answers[index] as AccountedAnswer }])
  } catch (error) {
    turn.end(error)
    afterFailure(members, { offers: again?.offers ?? serving.offers, tries: again?.tries ?? 0 }, offer, error)
  }
}

/** In the name of the first; the line is left when nobody has time any more. */
function askedTogether(members: Members): TurnAsked {
  const { model, project } = members[0].serving
  return {
    model: model.id,
    project,
    images: 0,
    deadlineMs: Math.max(...members.map(({ serving }) => serving.deadlineMs)),
    isShared: true,
    // Of those, too, who join while it stands in line.
    get tokens() {
      return members.reduce((sum, { serving, input }) => sum + tokensAsked(serving, input), 0)
    },
  }
}

/** Who has no time left is told so, and holds up nobody. Undefined: nobody is left. */
function withoutLate(members: Members, { deployment }: Offer, cause?: UpstreamFailure): Members | undefined {
  const nowMs = members[0].serving.outside.clock.monotonicMs()
  const error = cause ?? outOfTime(deployment.id)
  const inTime: Member[] = []
  for (const member of members)
    if (member.serving.deadlineMs > nowMs) inTime.push(member)
    else member.reject(endOf(error, member.serving))
  const [lead, ...others] = inTime
  return lead && [lead, ...others]
}

async function sharesOf(members: Members, offer: Offer): Promise<readonly [Share, ...Share[]]> {
  const shares = await Promise.all(
    members.map(async ({ serving, input, slots }) => ({
      request: serving,
      inputs: isReady(offer) ? input : await readyFor(serving, input, slots, offer),
    })),
  )
  return shares as unknown as readonly [Share, ...Share[]]
}

function afterFailure(
  all: Members,
  { offers, tries }: Omit<Again, 'turn'>,
  failed: Offer,
  error: unknown,
): void {
  if (!(error instanceof UpstreamFailure) || !error.mayTryAnother) {
    // One of the texts is at fault, or one of the members has no money for it: the others have nothing to do with it.
    if (all.length > 1) return serveApart(all)
    return rejectAll(all, error)
  }
  const members = withoutHurried(withoutLate(all, failed, error))
  if (members === undefined) return
  const { dispatch, outside } = members[0].serving
  const left = offersAfter(error, failed, { offers, tries }, outside.limits.maxAttempts)
  const turn = dispatch.again(left, askedTogether(members))
  if (turn !== undefined) return void serveTogether(members, { turn, offers: left, tries: tries + 1 })
  // A text that an upstream chokes on looks like an upstream that is ill.
  const mayBeOneText = error.kind === 'failed' || error.kind === 'broken'
  for (const part of mayBeOneText && members.length > 1 ? halvesOf(members) : []) {
    const again = dispatch.again(offers, askedTogether(part))
    if (again === undefined) rejectAll(part, error)
    else void serveTogether(part, { turn: again, offers, tries })
  }
  if (!mayBeOneText || members.length === 1) rejectAll(members, error)
}

/** In halves: of many texts one is usually at fault, and is found in few calls. */
function serveApart(members: Members): void {
  if (members.length > 1) for (const half of halvesOf(members)) void serveTogether(half)
  else
    for (const { serving, input, slots, resolve, reject } of members)
      serve(serving, input, slots).then(resolve, reject)
}

function halvesOf(members: Members): readonly Members[] {
  const middle = Math.ceil(members.length / 2)
  return [members.slice(0, middle), members.slice(middle)] as unknown as readonly Members[]
}

function rejectAll(members: Members, error: unknown): void {
  for (const { serving, reject } of members) reject(endOf(error, serving))
}

/** Those with less time than a call may take go on alone: the call of all others would end with theirs. */
function withoutHurried(members: Members | undefined): Members | undefined {
  const [lead, ...others] = members?.filter(({ serving }) => !isHurried(serving)) ?? []
  if (members === undefined || lead === undefined) return members
  for (const member of members) if (isHurried(member.serving)) serveApart([member])
  return [lead, ...others]
}

function isHurried({ deadlineMs, outside: { clock, limits } }: Serving): boolean {
  return deadlineMs - clock.monotonicMs() < limits.attemptTimeoutMs
}
