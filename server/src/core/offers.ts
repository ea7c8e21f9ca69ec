/** What vectors and pictures have in common in being negotiated: who can, who can't and why, what may be left out. */
import type { Upstream } from './catalog.ts'
import { Fault } from './fault/fault.ts'

/** Why a deployment can't serve a request, in words for the caller. */
export interface Refusal {
  readonly param: string
  readonly message: string
}

export interface NegotiatedOf<Offer> {
  /** Able deployments, in the order declared. Never empty. */
  readonly offers: readonly Offer[]
  /** Options left out because the caller allowed it. */
  readonly dropped: readonly string[]
}

interface Negotiating<Request, Deployment, Offer extends object> {
  readonly model: { readonly id: string; readonly deployments: readonly Deployment[] }
  readonly unsupported: 'refuse' | 'drop'
  readonly offerOf: (request: Request, deployment: Deployment) => Offer | Refusal
  /** Undefined: it can't be left out. */
  readonly withoutOption: (request: Request, param: string) => Request | undefined
}

/** Asks every deployment. Where none can, the option that stands in the way is left out, if the caller allowed it. */
export function offersOf<Request, Deployment, Offer extends object>(
  request: Request,
  { model, unsupported, offerOf, withoutOption }: Negotiating<Request, Deployment, Offer>,
): NegotiatedOf<Offer> {
  let asked = request
  const dropped: string[] = []
  for (;;) {
    const offers: Offer[] = []
    let refusal: Refusal | undefined
    for (const deployment of model.deployments) {
      const outcome = offerOf(asked, deployment)
      if ('message' in outcome) refusal ??= outcome
      else offers.push(outcome)
    }
    if (offers.length > 0) return { offers, dropped }
    if (refusal === undefined) throw new Fault('internal_error', `Model '${model.id}' has no deployment.`)
    const without =
      unsupported === 'drop' && !dropped.includes(refusal.param)
        ? withoutOption(asked, refusal.param)
        : undefined
    if (without === undefined)
      throw new Fault('unsupported_parameter', refusal.message, { param: refusal.param })
    dropped.push(refusal.param)
    asked = without
  }
}

/** The OpenAI wire is open to fields it does not know; the others are typed by their packages. */
export function carriesUnknownFields({ upstream }: { readonly upstream: Upstream }): boolean {
  return upstream.dialect === 'openai' || upstream.dialect === 'azure'
}
