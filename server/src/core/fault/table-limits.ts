/** Faults of exhausted limits and budgets. */
import type { FaultEntry } from './entry.ts'

export const LIMIT_FAULTS = {
  rate_limit_exceeded: {
    status: 429,
    type: 'rate_limit_error',
    retry: true,
    who: 'caller',
    meaning:
      'A rate limit of the key or of its project is used up. The message names the limit, what it allows, and when it has room again.',
    nextStep:
      'Wait as long as `retry-after` says; SDKs do so by themselves. Operators: raise `limits` of the project or of the key.',
  },
  too_many_calls_at_once: {
    status: 429,
    type: 'rate_limit_error',
    retry: true,
    who: 'caller',
    meaning: 'The key has reached its limit of concurrent requests.',
    nextStep:
      'Send the next request when one has ended, or retry after `retry-after`. Operators: raise the maximum of calls at once of the key.',
  },
  too_many_reads: {
    status: 429,
    type: 'rate_limit_error',
    retry: true,
    who: 'caller',
    meaning:
      'The control API: the caller has asked for so much at a time that its turn did not come, or all connections of the node for reports are in use.',
    nextStep: 'Retry after `retry-after`, and ask for fewer reports at a time.',
  },
  too_many_batches: {
    status: 429,
    type: 'rate_limit_error',
    retry: true,
    who: 'caller',
    meaning: 'The project has as many batches that have not ended as it may have.',
    nextStep: 'Wait until some of them have ended, or put more requests into one file.',
  },
  request_exceeds_rate_limit: {
    status: 429,
    type: 'rate_limit_error',
    retry: false,
    who: 'caller',
    meaning:
      'This single request needs more than the rate limit allows in a whole minute. Waiting does not help.',
    nextStep:
      'Send fewer or shorter inputs in one request. Operators: raise the limit that the message names.',
  },
  budget_exhausted: {
    status: 429,
    type: 'rate_limit_error',
    retry: false,
    who: 'operator',
    meaning:
      'The highest possible cost of the request is more than what is left of a hard budget. Torana sent nothing to an upstream, and nothing was charged.',
    nextStep: 'Operators: raise the budget that the message names, or wait until its next period begins.',
  },
  budget_reserved: {
    status: 429,
    type: 'rate_limit_error',
    retry: true,
    who: 'caller',
    meaning:
      'The rest of a hard budget is reserved for requests that are still running. A request that costs less than its reservation gives the difference back.',
    nextStep: 'Retry after `retry-after`; SDKs do so by themselves.',
  },
  upstream_rate_limited: {
    status: 429,
    type: 'rate_limit_error',
    retry: true,
    who: 'upstream',
    meaning:
      'The upstream applied its rate limit to the gateway, and no other deployment of the model could take the request.',
    nextStep:
      'Wait as long as `retry-after` says. Operators: add a deployment, or ask the provider for a higher limit.',
  },
} as const satisfies Record<string, FaultEntry>
