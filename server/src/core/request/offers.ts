/**
 * The shared negotiation of embeddings and images: which deployments can serve a request, why the others can't, and which
 * options may be dropped.
 */
import type { Upstream } from '../catalog/catalog.ts'
import { Fault, type FaultCode } from '../fault/fault.ts'

/** Why a deployment can't serve a request, in words for the caller. */
export interface Refusal {
  readonly param: string
  readonly message: string
  /** Undefined: `unsupported_parameter`. */
  readonly code?: FaultCode | undefined
}

export interface NegotiatedOf<Offer> {
  /** One for each deployment that can serve the request, in the order of the configuration. Never empty. */
  readonly offers: readonly Offer[]
  /** Options that were dropped with the caller's permission. */
  readonly dropped: readonly string[]
}

interface NegotiationRules<Request, Deployment, Offer extends object> {
  readonly model: { readonly id: string; readonly deployments: readonly Deployment[] }
  readonly unsupported: 'refuse' | 'drop'
  readonly offerOf: (request: Request, deployment: Deployment) => Offer | Refusal
  /** The request without this option. Undefined: the option can't be dropped. */
  readonly withoutOption: (request: Request, param: string) => Request | undefined
}

/** Asks every deployment. If none can serve the request, drops the obstructing option, if the caller allowed it. */
export function offersOf<Request, Deployment, Offer extends object>(
  request: Request,
  { model, unsupported, offerOf, withoutOption }: NegotiationRules<Request, Deployment, Offer>,
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
      throw new Fault(refusal.code ?? 'unsupported_parameter', refusal.message, { param: refusal.param })
    dropped.push(refusal.param)
    asked = without
  }
}

/** The OpenAI wire carries fields that Torana does not know; the other wires have only what their packages know. */
export function carriesUnknownFields({ upstream }: { readonly upstream: Upstream }): boolean {
  return upstream.dialect === 'openai' || upstream.dialect === 'azure'
}
