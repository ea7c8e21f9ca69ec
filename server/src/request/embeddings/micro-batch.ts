/**
 * Requests that come at about the same time share one upstream call. Each request keeps its own ledger entry,
 * its own share of the usage, and its own errors: a call that fails for one bad text is split until only the
 * request with that text gets the error. No request sees what an upstream said about a shared call, since the
 * words may quote another caller's text.
 */
import type { MicroBatchRules } from '#core/catalog/micro-batch-rules.ts'
import { inputCount, joinInputs, type Input } from '#core/embedding/input.ts'
import type { Offer } from '#core/embedding/negotiate.ts'
import { outOfTime, type UpstreamFailure } from '#core/fault/failure.ts'
import { callerLeft } from '../traffic/caller.ts'
import type { CalledWork } from '../traffic/ended-call.ts'
import type { Turn, TurnRequest } from '../traffic/turn.ts'
import { mayTryAnother, offersAfter, type TriedWork } from '../traffic/next-deployment.ts'
import { endOf, type AdmittedRequest, type Share } from './admitted-request.ts'
import { attempt } from './attempt.ts'
import { isReady, readyFor, runsOf, tokensOfCall } from './one-call.ts'
import { serve } from './serve.ts'
import type { AccountedAnswer, ServedInputs } from './served.ts'

interface Member {
  readonly request: AdmittedRequest
  readonly input: Input
  readonly slots: readonly number[]
  readonly work: CalledWork
  readonly resolve: (served: readonly ServedInputs[]) => void
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
  /** Shared calls and their texts by model, for metrics. */
  readonly #left = new Map<string, { calls: number; items: number }>()
  readonly #wait: (ms: number) => Promise<unknown>

  constructor(wait: (ms: number) => Promise<unknown>) {
    this.#wait = wait
  }

  /** Serves distinct inputs of one request together with those of requests that come soon. */
  join(
    request: AdmittedRequest,
    input: Input,
    slots: readonly number[],
    policy: MicroBatchRules,
  ): Promise<readonly ServedInputs[]> {
    const count = inputCount(input)
    // A request that fills a batch has nothing to wait for. A hurried one would end the shared call early.
    if (count >= policy.maxItems || isHurried(request)) return serve(request, input, slots)
    return new Promise((resolve, reject) => {
      const key = keyOf(request, input, policy)
      const work = { part: 0, attempt: undefined }
      const member: Member = { request, input, slots, work, resolve, reject }
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

  /** Average number of texts in a shared call of this model. Undefined before the first shared call. */
  averageItems(model: string): number | undefined {
    const left = this.#left.get(model)
    return left && left.items / left.calls
  }

  #note({ members: [{ request }], items }: Batch): void {
    const left = this.#left.get(request.model.id) ?? { calls: 0, items: 0 }
    left.calls += 1
    left.items += items
    this.#left.set(request.model.id, left)
  }

  /** Requests may join while the batch is in the queue: a busy deployment then takes one call. */
  async #leave(key: string, batch: Batch): Promise<void> {
    if (batch.isLeaving) return
    batch.isLeaving = true
    await serveTogether(batch.members, undefined, () => {
      if (this.#open.get(key) === batch) this.#open.delete(key)
      this.#note(batch)
    })
  }
}

/** Requests with equal keys may share a call: the same model on the same terms, and texts with texts. */
function keyOf(
  { model, project, offers }: AdmittedRequest,
  { kind }: Input,
  { acrossProjects }: MicroBatchRules,
): string {
  // All fields of a call beside its inputs, since the terms of one member are sent for all.
  const terms = offers.map((offer) => ({ ...offer, deployment: identityOf(offer.deployment) }))
  return JSON.stringify([model.id, acrossProjects ? '' : project, kind, terms])
}

const identities = new WeakMap<object, number>()
let lastIdentity = 0

/** A deployment of another configuration is another deployment, even under the same name: it may point elsewhere. */
function identityOf(deployment: Offer['deployment']): number {
  const known = identities.get(deployment) ?? (lastIdentity += 1)
  identities.set(deployment, known)
  return known
}

/** A batch that was tried before. */
interface NextTry {
  /** Undefined when only the batch that contains this part was tried, not the part itself. */
  readonly work?: TriedWork<Offer> & { readonly turn: Turn<Offer> | Promise<Turn<Offer>> }
  readonly search?: Search | undefined
}

/** The search for the bad texts of one batch. */
interface Search {
  /** Calls that it may still make for more than one request. */
  sharedCallsLeft: number
}

/** Never rejects: each member gets its own result or error. `close` is called when no request can join any more. */
async function serveTogether(all: Members, next?: NextTry, close?: () => void): Promise<void> {
  const [{ request }] = all
  let turn: Turn<Offer>
  try {
    const pending = next?.work?.turn ?? request.dispatch.turn(request.offers, askedTogether(all))
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
    if (runsOf(joinInputs(shares.map(({ inputs }) => inputs)), offer, request).length > 1) {
      turn.giveBack()
      return serveApart(members)
    }
    const wantedForm = members.length > 1 ? 'float32' : request.wantedForm
    const answers = await attempt(shares, offer, wantedForm, turn.waitedMs)
    turn.end()
    for (const [index, { slots, resolve }] of members.entries())
      resolve([{ offer, slots, answer: answers[index] as AccountedAnswer }])
  } catch (error) {
    afterFailure(members, turn, error, next)
  }
}

/** One entry in the queue, in the name of the first member. The batch leaves it when no member has time left. */
function askedTogether(members: Members): TurnRequest {
  const { model, project } = members[0].request
  return {
    model: model.id,
    project,
    images: 0,
    deadlineMs: Math.max(...members.map(({ request }) => request.deadlineMs)),
    get isOfSeveralProjects() {
      return members.some(({ request }) => request.project !== project)
    },
    // Counted on demand, since requests join while the batch is in the queue.
    get tokens() {
      return members.reduce((sum, { request, input }) => sum + tokensOfCall(request, input), 0)
    },
  }
}

/**
 * Ends members that are out of time, so that they don't hold up the others, and those whose client has left.
 * Undefined when no member is left.
 */
function withoutLate(members: Members, { deployment }: Offer, cause?: UpstreamFailure): Members | undefined {
  const nowMs = members[0].request.outside.clock.monotonicMs()
  const error = cause ?? outOfTime(deployment.id)
  const inTime: Member[] = []
  for (const member of members)
    if (member.request.caller?.destroyed === true) member.reject(callerLeft())
    else if (member.request.deadlineMs > nowMs) inTime.push(member)
    else member.reject(endOf(error, member.request))
  const [lead, ...others] = inTime
  return lead && [lead, ...others]
}

async function sharesOf(members: Members, offer: Offer): Promise<readonly [Share, ...Share[]]> {
  const shares = await Promise.all(
    members.map(async ({ request, input, slots, work }) => ({
      request,
      work,
      inputs: isReady(offer) ? input : await readyFor(request, input, slots, offer),
    })),
  )
  return shares as unknown as readonly [Share, ...Share[]]
}

function afterFailure(all: Members, turn: Turn<Offer>, error: unknown, next?: NextTry): void {
  const search = next?.search
  if (!mayTryAnother(error)) {
    turn.end(error)
    // One member's text is at fault, or one member has no money. The others are served without it.
    if (all.length > 1) return serveApart(all, search)
    return rejectAll(all, error)
  }
  const { dispatch, outside, offers } = all[0].request
  const work = next?.work ?? { offers, tries: 0 }
  const { maxAttempts } = outside.limits
  const left = offersAfter(error, turn.offer, work, { maxAttempts, buysOnce: false })
  // A failure caused by one text looks like a failing upstream.
  const mayBeOneText = all.length > 1 && error.mayBeOneText
  if (mayBeOneText && left.length === 0) turn.endUnclear()
  else turn.end(error)
  const inTime = withoutLate(all, turn.offer, error)
  if (mayBeOneText && error.kind === 'timedOut') return serveEach(inTime ?? [], left)
  const members = withoutHurried(inTime)
  if (members === undefined) return
  const again = dispatch.again(left, askedTogether(members))
  if (again !== undefined) {
    const tried = { turn: again, offers: left, tries: work.tries + 1 }
    return void serveTogether(members, { work: tried, search })
  }
  if (mayBeOneText) serveApart(members, search)
  else rejectAll(members, error)
}

/**
 * Splits in halves: usually one text of many is at fault, and few calls find it. The search makes at most
 * half as many shared calls as it has members; then each member continues alone. A failing upstream therefore
 * gets at most half as many calls again as it would get from requests that share nothing.
 */
function serveApart(
  members: Members,
  search: Search = { sharedCallsLeft: Math.ceil(members.length / 2) },
): void {
  for (const half of members.length > 1 ? halvesOf(members) : [members]) {
    if (half.length > 1 && search.sharedCallsLeft > 0) {
      search.sharedCallsLeft -= 1
      void serveTogether(half, { search })
    } else serveEach(half)
  }
}

/**
 * Serves each member alone, as if it had never shared a call, at other deployments if there are any. After a
 * timeout this happens immediately: a search in halves could time out again, and no member has the time.
 */
function serveEach(members: readonly Member[], others: readonly Offer[] = []): void {
  for (const { request, input, slots, work, resolve, reject } of members) {
    const asked = others.length === 0 ? request : { ...request, offers: others }
    serve(asked, input, slots, work).then(resolve, reject)
  }
}

function halvesOf(members: Members): readonly Members[] {
  const middle = Math.ceil(members.length / 2)
  return [members.slice(0, middle), members.slice(middle)] as unknown as readonly Members[]
}

function rejectAll(members: Members, error: unknown): void {
  for (const { request, reject } of members) reject(endOf(error, request))
}

/** Members with less time than a call may take continue alone: they would end the others' call early. */
function withoutHurried(members: Members | undefined): Members | undefined {
  const [lead, ...others] = members?.filter(({ request }) => !isHurried(request)) ?? []
  if (members === undefined || lead === undefined) return members
  for (const member of members) if (isHurried(member.request)) serveApart([member])
  return [lead, ...others]
}

function isHurried({ deadlineMs, model, outside: { clock, limits } }: AdmittedRequest): boolean {
  return deadlineMs - clock.monotonicMs() < (model.attemptTimeoutMs ?? limits.attemptTimeoutMs)
}
