/**
 * Everything a caller can be told has gone wrong, in one catalogue. `docs/errors.md` is generated from it. A message says
 * what happened, with the value; why, with the number; and what to do next.
 */
export interface FaultEntry {
  readonly status: number
  /** OpenAI's coarse class, which SDKs show beside the code. */
  readonly type: FaultType
  /** Sent as `x-should-retry`, which OpenAI's SDKs obey in both directions. */
  readonly retry: boolean
  /** Who has to act. */
  readonly who: 'caller' | 'operator' | 'upstream' | 'gateway'
  readonly meaning: string
  readonly nextStep: string
}

type FaultType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'not_found_error'
  | 'rate_limit_error'
  | 'upstream_error'
  | 'server_error'

const badRequest = { status: 400, type: 'invalid_request_error', retry: false, who: 'caller' } as const

export const FAULTS = {
  invalid_json: {
    ...badRequest,
    meaning: 'The request body is not JSON, or not a JSON object.',
    nextStep:
      'Send a JSON object with `content-type: application/json`. The message says where parsing stopped.',
  },
  malformed_request: {
    ...badRequest,
    meaning: 'What arrived can not be read as an HTTP request.',
    nextStep:
      'Look at what stands between the application and the gateway: a proxy, or TLS towards a plain port.',
  },
  missing_parameter: {
    ...badRequest,
    meaning: 'A required field is absent.',
    nextStep: 'Add the field named in `param`.',
  },
  invalid_parameter: {
    ...badRequest,
    meaning: 'A field or a header holds a value of the wrong type or outside its range.',
    nextStep: 'Send one of the values the message lists.',
  },
  invalid_input: {
    ...badRequest,
    meaning:
      '`input` is not a string, an array of strings, an array of token ids or an array of arrays of token ids.',
    nextStep: 'Look at the entry named in `param`; do not mix texts and tokens in one request.',
  },
  empty_input: {
    ...badRequest,
    meaning: '`input`, or one entry of it, is empty.',
    nextStep: 'Remove empty texts before sending; there is no vector of nothing.',
  },
  too_many_inputs: {
    ...badRequest,
    meaning: '`input` has more entries than one request may carry.',
    nextStep:
      'Send the inputs in several requests. Torana splits for the upstream; the limit bounds one request.',
  },
  input_too_long: {
    ...badRequest,
    meaning: 'One input has more tokens than the model can read. Nothing is cut off silently.',
    nextStep: 'Split the text named in `param` into pieces and embed each.',
  },
  model_mismatch: {
    ...badRequest,
    meaning: 'The model in the path and the model in the body differ.',
    nextStep: 'Leave `model` out of the body, or make both equal.',
  },
  unsupported_parameter: {
    ...badRequest,
    meaning:
      'No deployment of the model can honour an option, and Torana cannot emulate it without changing its meaning.',
    nextStep:
      'Remove the option named in `param`, use the value the message proposes, or send `x-torana-unsupported: drop` to have it dropped and reported.',
  },
  request_not_splittable: {
    ...badRequest,
    meaning:
      'The request holds more than one upstream call can carry, and has a field that Torana does not know. Such a field may tie inputs together, so the request is never split.',
    nextStep: 'Send fewer inputs, or remove the field, or have an operator list it under `harmlessFields`.',
  },
  upstream_refused: {
    ...badRequest,
    meaning:
      'The upstream refused the request itself. Its own words are in the message, without anything secret.',
    nextStep:
      'Change the request as the upstream says. It was not tried elsewhere: another deployment would refuse it too.',
  },
  content_policy_violation: {
    ...badRequest,
    meaning: 'The upstream refused the content.',
    nextStep: 'Change the content. It was neither retried nor sent to another upstream.',
  },
  missing_api_key: {
    status: 401,
    type: 'authentication_error',
    retry: false,
    who: 'caller',
    meaning: 'The request carries no key.',
    nextStep: 'Send `Authorization: Bearer <key>`, `api-key: <key>` or `x-api-key: <key>`.',
  },
  invalid_api_key: {
    status: 401,
    type: 'authentication_error',
    retry: false,
    who: 'caller',
    meaning: 'No such key. A key that starts with `tr_` and has a wrong checksum was mistyped or cut off.',
    nextStep:
      'Copy the key again. Keys of a provider (such as `sk-…`) belong in torana.yaml, not in the application.',
  },
  key_expired: {
    status: 401,
    type: 'authentication_error',
    retry: false,
    who: 'operator',
    meaning: 'The key has passed its expiry.',
    nextStep: 'Ask for a new key.',
  },
  model_not_allowed: {
    status: 403,
    type: 'permission_error',
    retry: false,
    who: 'operator',
    meaning: 'The key may not use this model.',
    nextStep: 'Use one of the models of `GET /v1/models`, or ask for the key to be extended.',
  },
  model_unpriced: {
    status: 403,
    type: 'permission_error',
    retry: false,
    who: 'operator',
    meaning:
      'The key or its project has a hard budget, and the model has no price. What it costs could not be held against the budget.',
    nextStep: 'Operators: give the model a `price` in torana.yaml (`free` is one), or use another model.',
  },
  model_not_found: {
    status: 404,
    type: 'not_found_error',
    retry: false,
    who: 'caller',
    meaning: 'No model or alias of that name is configured.',
    nextStep: 'List the models with `GET /v1/models`. The message names the nearest one.',
  },
  model_retired: {
    status: 404,
    type: 'not_found_error',
    retry: false,
    who: 'caller',
    meaning: 'The model has been shut down by its maker.',
    nextStep:
      'Move to the successor the message names. Vectors of the two can not be mixed: embed the corpus again.',
  },
  not_found: {
    status: 404,
    type: 'not_found_error',
    retry: false,
    who: 'caller',
    meaning: 'The control API knows no such key, project, upstream, node or unknown.',
    nextStep: 'List what there is first: the same path without the last part.',
  },
  unknown_path: {
    status: 404,
    type: 'not_found_error',
    retry: false,
    who: 'caller',
    meaning: 'No such path, or not with this method.',
    nextStep: 'Check the base URL: it ends in `/v1`, and the SDK adds the rest.',
  },
  request_timeout: {
    status: 408,
    type: 'invalid_request_error',
    retry: true,
    who: 'caller',
    meaning: 'The request did not arrive in time.',
    nextStep: 'Send it again; look at the network between the application and the gateway.',
  },
  conflict: {
    status: 409,
    type: 'invalid_request_error',
    retry: false,
    who: 'caller',
    meaning:
      'What the control API was asked to change is in a state that does not allow it, or exists already.',
    nextStep: 'The message says what stands in the way.',
  },
  space_mismatch: {
    status: 412,
    type: 'invalid_request_error',
    retry: false,
    who: 'caller',
    meaning:
      'The request pins a vector space with `x-torana-space`, and the model does not answer in that space.',
    nextStep:
      'Read the space from the `x-torana-space` header of an answer; if it has changed, embed the corpus again.',
  },
  body_too_large: {
    status: 413,
    type: 'invalid_request_error',
    retry: false,
    who: 'caller',
    meaning: 'The request body is larger than the limit.',
    nextStep: 'Send the inputs in several requests, or have an operator raise `limits.embeddingsBodyBytes`.',
  },
  unsupported_media_type: {
    status: 415,
    type: 'invalid_request_error',
    retry: false,
    who: 'caller',
    meaning: 'The body is compressed, or is not JSON by its own content type.',
    nextStep: 'Send plain JSON with `content-type: application/json` and no `content-encoding`.',
  },
  headers_too_large: {
    status: 431,
    type: 'invalid_request_error',
    retry: false,
    who: 'caller',
    meaning: 'The request headers are larger than 16 KB together.',
    nextStep: 'Send shorter headers; cookies are the usual reason.',
  },
  rate_limit_exceeded: {
    status: 429,
    type: 'rate_limit_error',
    retry: true,
    who: 'caller',
    meaning:
      'A rate limit of the key or of its project is used up. The message says which, how much it allows and when it has room again.',
    nextStep:
      'Wait as long as `retry-after` says; SDKs do so by themselves. Operators: `limits` of the project or key.',
  },
  request_exceeds_rate_limit: {
    status: 429,
    type: 'rate_limit_error',
    retry: false,
    who: 'caller',
    meaning:
      'The request alone needs more than a whole minute of a rate limit allows, so waiting would not help.',
    nextStep: 'Send fewer or shorter inputs at once, or have an operator raise the limit the message names.',
  },
  budget_exhausted: {
    status: 429,
    type: 'rate_limit_error',
    retry: false,
    who: 'operator',
    meaning:
      'The most the request can cost does not fit into what is left of a hard budget. Nothing was sent and nothing was charged.',
    nextStep: 'Operators: raise the budget the message names, or wait for its next window.',
  },
  budget_reserved: {
    status: 429,
    type: 'rate_limit_error',
    retry: true,
    who: 'caller',
    meaning:
      'What is left of a hard budget is reserved for requests under way. Some of it comes back when they cost less than the most they could.',
    nextStep: 'Try again after `retry-after`; SDKs do so by themselves.',
  },
  upstream_rate_limited: {
    status: 429,
    type: 'rate_limit_error',
    retry: true,
    who: 'upstream',
    meaning: 'The upstream limits our rate, and no other deployment of the model could take the request.',
    nextStep:
      'Wait as long as `retry-after` says. Operators: add a deployment, or ask the provider for a higher limit.',
  },
  internal_error: {
    status: 500,
    type: 'server_error',
    retry: true,
    who: 'gateway',
    meaning: 'A fault of Torana itself.',
    nextStep: 'Report it with the request id; the log has the cause under that id.',
  },
  upstream_failed: {
    status: 502,
    type: 'upstream_error',
    retry: true,
    who: 'upstream',
    meaning: 'Every deployment that was tried answered with an error of its own (5xx).',
    nextStep: 'Retry. Operators: `upstream` in the error names the deployment and its status.',
  },
  upstream_unreachable: {
    status: 502,
    type: 'upstream_error',
    retry: true,
    who: 'upstream',
    meaning: 'No connection to the upstream, or it was cut before an answer came.',
    nextStep: 'Retry. Operators: check the base URL, DNS and the network towards it.',
  },
  upstream_broken_answer: {
    status: 502,
    type: 'upstream_error',
    retry: true,
    who: 'upstream',
    meaning:
      'The upstream answered 200 with something that is not a right answer: not JSON, a wrong number of vectors, a wrong width, values that are not finite. Torana hands out no such vectors.',
    nextStep:
      'Retry. Operators: the message says what was wrong; a wrong width often means a wrong model behind the deployment.',
  },
  upstream_model_missing: {
    status: 502,
    type: 'upstream_error',
    retry: false,
    who: 'operator',
    meaning: 'The upstream does not know the model or the path that torana.yaml names (404).',
    nextStep: "Operators: check the deployment's `model` and the upstream's `baseUrl`.",
  },
  upstream_rejected_us: {
    status: 503,
    type: 'upstream_error',
    retry: false,
    who: 'operator',
    meaning:
      "The upstream refused the gateway's own credential, permission or quota. The caller's key is fine.",
    nextStep: "Operators: check the upstream's `apiKey`, its permissions and its credit.",
  },
  key_store_unreachable: {
    status: 503,
    type: 'server_error',
    retry: true,
    who: 'operator',
    meaning: 'The key could not be looked up. Nothing is said about the key itself.',
    nextStep: 'Retry. Operators: look at the store named in the log.',
  },
  store_unreachable: {
    status: 503,
    type: 'server_error',
    retry: true,
    who: 'operator',
    meaning:
      'The control API could not reach PostgreSQL. Nothing was changed, or the change is there when it is asked again.',
    nextStep: 'Look again what there is, then retry. Operators: look at PostgreSQL.',
  },
  budget_store_unreachable: {
    status: 503,
    type: 'server_error',
    retry: true,
    who: 'operator',
    meaning:
      'The hard budget could not be asked, and what this node had leased of it is used up. It is not exceeded because a store is away.',
    nextStep: 'Retry. Operators: look at PostgreSQL.',
  },
  ledger_unavailable: {
    status: 503,
    type: 'server_error',
    retry: true,
    who: 'operator',
    meaning:
      'The usage record could be written neither to PostgreSQL nor to the spool on disk. No result leaves unaccounted.',
    nextStep: 'Retry. Operators: look at the disk of `TORANA_DATA_DIR` and at PostgreSQL.',
  },
  upstream_timeout: {
    status: 504,
    type: 'upstream_error',
    retry: true,
    who: 'upstream',
    meaning: 'No deployment answered in time.',
    nextStep: 'Retry, perhaps with fewer inputs. A shorter `timeout` in the SDK shortens ours too.',
  },
} as const satisfies Record<string, FaultEntry>
