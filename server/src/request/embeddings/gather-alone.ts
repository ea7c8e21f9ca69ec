/**
 * The usual request: one input, one deployment that takes it unchanged, nothing to share, and an empty queue.
 * It does the steps of the general path (`serve.ts`) in one function. If its call fails, the general path
 * continues from there.
 */
import type { Input } from '#core/embedding/input.ts'
import type { Offer } from '#core/embedding/negotiate.ts'
import { callerLeft } from '../traffic/caller.ts'
import type { CalledWork } from '../traffic/ended-call.ts'
import type { Turn } from '../traffic/turn.ts'
import type { AdmittedRequest } from './admitted-request.ts'
import { attempt } from './attempt.ts'
import { Calls } from './calls.ts'
import { isReady, tokensOfCall } from './one-call.ts'
import { serveAfter } from './serve.ts'
import { ONE_SLOT, servedOne, type AccountedAnswer, type GatheredVectors } from './served.ts'
import type { SharingRules } from './shared-vectors.ts'

/** An admitted request before its equal inputs are found. */
export interface GatherRequest extends AdmittedRequest {
  readonly input: Input
  /** Undefined when this request shares nothing with others. */
  readonly sharing: SharingRules | undefined
}

/** Undefined when the request has something to choose, to prepare or to wait for. */
export function turnAlone(request: GatherRequest): Turn<Offer> | undefined {
  const { offers, sharing, caller, isBackground, model, project, deadlineMs, input } = request
  const [offer] = offers
  if (offer === undefined || offers.length > 1 || sharing !== undefined || isBackground === true)
    return undefined
  if (!isReady(offer)) return undefined
  if (caller?.destroyed === true) throw callerLeft()
  const tokens = tokensOfCall(request, input)
  return request.dispatch.turnNow(offers, { model: model.id, project, tokens, images: 0, deadlineMs, caller })
}

export async function gatherAlone(request: GatherRequest, turn: Turn<Offer>): Promise<GatheredVectors> {
  const { offer } = turn
  const { input } = request
  const work: CalledWork = { part: 0, attempt: undefined }
  try {
    const [answer] = await attempt([{ request, inputs: input, work }], offer, request.wantedForm)
    turn.end()
    return servedOne([{ offer, slots: ONE_SLOT, answer: answer as AccountedAnswer }])
  } catch (error) {
    const calls = new Calls(request)
    calls.begin(turn)
    const part = { input, slots: ONE_SLOT, offers: request.offers, tries: 0, work }
    return servedOne(await serveAfter(error, request, calls, part, turn))
  }
}
