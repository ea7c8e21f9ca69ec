import type { ModelEnd } from '../catalog/model-end.ts'
import { FIREWALL_CODE, type UpstreamFailure } from './failure.ts'
import { Fault } from './fault.ts'

/**
 * The fault for an upstream's failure that ends the request. `tried` counts attempts; `ended`: the end of the failed
 * deployment's model, if its day has come.
 */
export function faultOfFailure(
  failure: UpstreamFailure,
  model: string,
  tried: number,
  ended?: ModelEnd,
): Fault {
  const { deployment, status, retryAfterMs, param, isLasting } = failure.detail
  const options = { param, retryAfterMs, isLasting, upstream: failure.detail, cause: failure }
  const after = tried > 1 ? ` It was the last of ${tried} attempts.` : ''
  const answered = status === undefined ? '' : ` with ${status}`
  switch (failure.kind) {
    case 'refused':
      return new Fault(
        'upstream_refused',
        `${deployment} refused the request${answered}: ${failure.message}`,
        options,
      )
    case 'contentRefused':
      return new Fault(
        'content_policy_violation',
        `${deployment} refused the content: ${failure.message} The gateway did not retry.`,
        options,
      )
    case 'rejectedUs':
      return new Fault(
        'upstream_rejected_us',
        failure.detail.code?.startsWith(FIREWALL_CODE)
          ? `A firewall in front of ${deployment} blocked the gateway's call${answered}: ${failure.message}. Your key is fine; an operator must act.${after}`
          : `${deployment} rejected the gateway's own credential or quota${answered}. Your key is fine; an operator must act.${after}`,
        options,
      )
    case 'missing':
      if (ended !== undefined) return retiredFault(model, ended, deployment, options)
      return new Fault(
        'upstream_model_missing',
        `${deployment} does not know its model or path (404). The configuration of '${model}' is wrong; an operator must correct it.${after}`,
        options,
      )
    case 'rateLimited':
      return new Fault(
        'upstream_rate_limited',
        `${deployment} applied its rate limit to the gateway${retryAfterMs === undefined ? '' : `; retry in ${Math.ceil(retryAfterMs / 1000)} s`}.${after}`,
        options,
      )
    case 'failed':
      return new Fault(
        'upstream_failed',
        `${deployment} failed${answered}: ${failure.message}${after}`,
        options,
      )
    case 'unreachable':
      return new Fault(
        'upstream_unreachable',
        `${deployment} could not be reached (${failure.message}).${after}`,
        options,
      )
    case 'timedOut':
      return new Fault(
        'upstream_timeout',
        `${deployment} did not answer in time: ${failure.message}.${after}`,
        options,
      )
    case 'broken':
      if (failure.detail.leftSpace) return spaceLeft(model, deployment, options)
      return new Fault(
        'upstream_broken_answer',
        `${deployment} sent ${failure.message}. Torana discarded the answer.${after}`,
        options,
      )
  }
}

export function spaceLeft(
  model: string,
  deployment: string,
  options?: ConstructorParameters<typeof Fault>[2],
): Fault {
  return new Fault(
    'space_left',
    `${deployment} left the vector space of '${model}' while the request was running. Retry.`,
    options,
  )
}

/** The upstream no longer knows the model, and its day has come: nothing is wrong with the configuration. */
function retiredFault(
  model: string,
  { on, successor }: ModelEnd,
  deployment: string,
  options: ConstructorParameters<typeof Fault>[2],
): Fault {
  const next = successor === undefined ? '' : ` The provider names '${successor}' as its successor.`
  return new Fault(
    'model_retired',
    `The provider shut '${model}' down on ${on}, and ${deployment} no longer knows it.${next}`,
    { ...options, param: 'model' },
  )
}
