/** What a caller can do something about. */
import type { FaultEntry } from './entry.ts'

const badRequest = { status: 400, type: 'invalid_request_error', retry: false, who: 'caller' } as const

export const CALLER_FAULTS = {
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
    meaning:
      'There is no such image job or asset in the project of this key; or, in the control API, no such key, project, upstream, node or unknown.',
    nextStep:
      'Look at the id, and use a key of the project that asked for it. In the control API, list what there is: the same path without the last part.',
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
  invalid_image_file: {
    status: 400,
    type: 'invalid_request_error',
    retry: false,
    who: 'caller',
    meaning:
      'A picture, mask or markup that came with the request will not be taken: it is no PNG, JPEG or WebP, has too many pixels, bytes or frames, is not what its first bytes say, or does not fit the picture it belongs to. Only its header was looked at.',
    nextStep: 'The message says which one and why. Send one that fits.',
  },
  body_too_large: {
    status: 413,
    type: 'invalid_request_error',
    retry: false,
    who: 'caller',
    meaning: 'The request body is larger than the limit.',
    nextStep:
      'Send the inputs in several requests, or have an operator raise `limits.embeddingsBodyBytes`, `limits.imagesBodyBytes`, `limits.editsBodyBytes`, `limits.editFileBytes` or `limits.editsJsonBytes`.',
  },
  unsupported_media_type: {
    status: 415,
    type: 'invalid_request_error',
    retry: false,
    who: 'caller',
    meaning:
      'The body is compressed, or is by its own content type neither JSON nor, for edits, a form that can be read.',
    nextStep:
      'Send plain JSON with `content-type: application/json`, or a form as `multipart/form-data` with its boundary, and no `content-encoding`.',
  },
  idempotency_key_reused: {
    status: 422,
    type: 'invalid_request_error',
    retry: false,
    who: 'caller',
    meaning: 'The `Idempotency-Key` was used within 24 hours for a request that asked for something else.',
    nextStep: 'Use a new key for a new request, and the same key only for a retry of the same request.',
  },
  asset_gone: {
    status: 410,
    type: 'not_found_error',
    retry: false,
    who: 'caller',
    meaning: 'The picture was there, and its retention time is over.',
    nextStep: 'Fetch pictures within the retention time, or ask the operator for a longer one.',
  },
  asset_link_invalid: {
    status: 403,
    type: 'permission_error',
    retry: false,
    who: 'caller',
    meaning: 'The signed link of a picture has expired, or was changed.',
    nextStep: 'Fetch it with a key of its project, without `exp` and `sig`.',
  },
  outcome_unknown: {
    // Not a 5xx: many clients retry those by themselves, whatever a header says, and a retry is a second purchase.
    status: 424,
    type: 'upstream_error',
    retry: false,
    who: 'operator',
    meaning:
      'The upstream may have made and charged the pictures, but its answer did not arrive. A retry could be a second purchase, so Torana makes none.',
    nextStep:
      'Decide whether a second purchase is acceptable; if so, send the request anew (with a new `Idempotency-Key`). Operators: `torana unknowns` lists it.',
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
} as const satisfies Record<string, FaultEntry>
