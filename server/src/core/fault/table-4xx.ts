/** Faults that a caller can correct. */
import { CONTENT_FAULTS } from './table-contents.ts'
import type { FaultEntry } from './entry.ts'

const badRequest = { status: 400, type: 'invalid_request_error', retry: false, who: 'caller' } as const

export const CALLER_FAULTS = {
  invalid_json: {
    ...badRequest,
    meaning:
      'The request body is not JSON, or not a JSON object, or it has more fields, levels or values than a request may have.',
    nextStep:
      'Send a JSON object with `content-type: application/json`. The message says where parsing stopped, or which bound is exceeded.',
  },
  malformed_request: {
    ...badRequest,
    meaning: 'The bytes that arrived are not an HTTP request.',
    nextStep:
      'Check the proxies between the application and the gateway. A common cause is `https://` towards a port that speaks plain HTTP.',
  },
  missing_parameter: {
    ...badRequest,
    meaning: 'A required field is missing.',
    nextStep: 'Add the field named in `param`.',
  },
  invalid_parameter: {
    ...badRequest,
    meaning: 'A field or a header has a value of the wrong type or outside its range.',
    nextStep: 'Send a value that the message allows.',
  },
  invalid_input: {
    ...badRequest,
    meaning:
      '`input` is not a string, an array of strings, an array of token ids, an array of arrays of token ids or an array of contents.',
    nextStep:
      'Correct the entry named in `param`. Do not mix token ids with texts or contents in one request.',
  },
  empty_input: {
    ...badRequest,
    meaning: '`input`, or one entry of it, is empty.',
    nextStep: 'Remove empty texts before sending. An empty text has no vector.',
  },
  ...CONTENT_FAULTS,
  too_many_inputs: {
    ...badRequest,
    meaning: '`input` has more entries than one request may have.',
    nextStep:
      'Send the inputs in several requests. Torana splits large requests for the upstream; this limit is for one request.',
  },
  input_too_long: {
    ...badRequest,
    meaning: 'One input has more tokens than the model can read. Torana never cuts a text off silently.',
    nextStep: 'Split the text named in `param` into pieces and embed each piece.',
  },
  model_mismatch: {
    ...badRequest,
    meaning: 'The model in the path and the model in the body differ.',
    nextStep: 'Leave `model` out of the body, or send the same model in both places.',
  },
  unsupported_parameter: {
    ...badRequest,
    meaning:
      'No deployment of the model supports an option, and Torana cannot emulate the option without changing its meaning.',
    nextStep:
      'Remove the option named in `param`, or use the value that the message proposes. With `x-torana-unsupported: drop` Torana drops the option and reports it in `x-torana-dropped`.',
  },
  provenance_not_kept: {
    ...badRequest,
    meaning:
      'The request says `provenance: keep`, and the image could reach you only through a conversion, which would drop its C2PA manifest: no deployment of the model makes the format or the compression itself. Torana sent nothing to an upstream, and nothing was charged.',
    nextStep:
      'Ask for a format that the model makes itself (`formats_native` of `GET /v1/models`), without `output_compression`. Or remove `provenance`: then Torana converts, says `x-torana-provenance: dropped`, and keeps the original.',
  },
  request_not_splittable: {
    ...badRequest,
    meaning:
      'The request is too large for one upstream call, and it has a field that Torana does not know. Such a field may connect the inputs with each other, so Torana does not split the request.',
    nextStep:
      'Send fewer inputs, or remove the field. Operators: list the field under `harmlessFields` if it does not connect inputs.',
  },
  upstream_refused: {
    ...badRequest,
    meaning:
      "The upstream refused the request itself. The message has the upstream's own words; anything that looks like a secret is removed.",
    nextStep:
      'Change the request as the upstream says. Torana did not try another deployment, because it would refuse the request too.',
  },
  content_policy_violation: {
    ...badRequest,
    meaning: 'The upstream refused the content.',
    nextStep:
      "Change the content. Torana did not retry, and did not send it to another upstream. If the upstream says more, `upstream` has its `code`, `type` and `moderation_details`, as OpenAI's image models send them.",
  },
  missing_api_key: {
    status: 401,
    type: 'authentication_error',
    retry: false,
    who: 'caller',
    meaning: 'The request has no key.',
    nextStep: 'Send `Authorization: Bearer <key>`, `api-key: <key>` or `x-api-key: <key>`.',
  },
  invalid_api_key: {
    status: 401,
    type: 'authentication_error',
    retry: false,
    who: 'caller',
    meaning:
      'Torana has no valid key with this text: it was never created, or it was revoked or rotated; the message says so where Torana still knows. A key that starts with `tr_` and has a wrong checksum was mistyped or cut off.',
    nextStep:
      'Copy the key again, or ask the operator for a new one. The key of a provider (such as `sk-…`) belongs in torana.yaml, not in the application.',
  },
  too_many_wrong_keys: {
    status: 429,
    type: 'rate_limit_error',
    retry: true,
    who: 'caller',
    meaning:
      'Many requests with wrong keys, or with wrong admin tokens, came from the same address. For a while Torana does not look up other keys from there. Keys that the node knows, and the right token, are served as always.',
    nextStep: 'Correct the key, and retry after `retry-after`.',
  },
  key_expired: {
    status: 401,
    type: 'authentication_error',
    retry: false,
    who: 'operator',
    meaning: 'The key has expired.',
    nextStep: 'Ask the operator for a new key.',
  },
  key_revoked: {
    status: 401,
    type: 'authentication_error',
    retry: false,
    who: 'operator',
    meaning:
      'The key under which the work began was revoked meanwhile, or torana.yaml no longer lists it. Calls that Torana had sent are finished and accounted for; it buys nothing more.',
    nextStep:
      'A batch waits: continue it under the terms of its project, or cancel it, in the console or with `torana batch`. Send an image request again with another key.',
  },
  project_deleted: {
    status: 403,
    type: 'permission_error',
    retry: false,
    who: 'operator',
    meaning:
      'The project was deleted while work of it was running. Calls that Torana had sent are finished and accounted for; it buys nothing more.',
    nextStep: 'Send the work again with a key of another project.',
  },
  model_not_allowed: {
    status: 403,
    type: 'permission_error',
    retry: false,
    who: 'operator',
    meaning: 'The key may not use this model.',
    nextStep: 'Use a model that `GET /v1/models` lists, or ask the operator to allow this one for the key.',
  },
  scope_not_allowed: {
    status: 403,
    type: 'permission_error',
    retry: false,
    who: 'operator',
    meaning: 'The key may not be used for this kind of request: embeddings, images, or edits of images.',
    nextStep: 'Use another key, or ask the operator to add the scope to this one.',
  },
  address_not_allowed: {
    status: 403,
    type: 'permission_error',
    retry: false,
    who: 'operator',
    meaning: 'The key may only be used from certain addresses, and the request came from another one.',
    nextStep:
      'Call from an address that the key allows, or ask the operator to add yours. Operators: behind a proxy, name it in `TRUSTED_PROXIES`, or every request seems to come from it.',
  },
  model_unpriced: {
    status: 403,
    type: 'permission_error',
    retry: false,
    who: 'operator',
    meaning:
      'The key or its project has a hard budget, and the model has no price. Torana cannot count a call without a price against a budget.',
    nextStep:
      'Use another model. Operators: set its price in the console (Settings, Prices), or give it a `price` in torana.yaml; `free` is a price too.',
  },
  model_not_found: {
    status: 404,
    type: 'not_found_error',
    retry: false,
    who: 'caller',
    meaning: 'No model and no alias with that name is configured.',
    nextStep: 'Use a model that `GET /v1/models` lists. The message names the closest ones.',
  },
  model_retired: {
    status: 404,
    type: 'not_found_error',
    retry: false,
    who: 'caller',
    meaning:
      'The provider has shut the model down: it is on the list of retired models, or its announced day has passed and the upstream no longer knows it.',
    nextStep:
      'Move to the successor that the message names. Vectors of the two models cannot be mixed: embed all documents again.',
  },
  not_found: {
    status: 404,
    type: 'not_found_error',
    retry: false,
    who: 'caller',
    meaning:
      'The project of this key has no such image job, asset or file. In the control API: no such key, project, upstream, node or unknown call exists.',
    nextStep:
      'Check the id, and use a key of the project that made the request. In the control API, remove the last part of the path to list what exists.',
  },
  unknown_path: {
    status: 404,
    type: 'not_found_error',
    retry: false,
    who: 'caller',
    meaning:
      'The gateway has no such path. It serves embeddings, images and files for batches; it has no chat, completions or audio.',
    nextStep: 'Check the base URL: it ends in `/v1`, and the SDK adds the rest.',
  },
  method_not_allowed: {
    status: 405,
    type: 'invalid_request_error',
    retry: false,
    who: 'caller',
    meaning: 'The path exists, but not with this method.',
    nextStep: 'Use one of the methods in the `allow` header.',
  },
  expectation_failed: {
    status: 417,
    type: 'invalid_request_error',
    retry: false,
    who: 'caller',
    meaning: 'The `Expect` header asks for something other than `100-continue`.',
    nextStep: 'Leave the header out. A proxy between the application and the gateway may have added it.',
  },
  request_timeout: {
    status: 408,
    type: 'invalid_request_error',
    retry: true,
    who: 'caller',
    meaning: 'The client did not send the whole request in time.',
    nextStep: 'Send it again. Check the network between the application and the gateway.',
  },
  conflict: {
    status: 409,
    type: 'invalid_request_error',
    retry: false,
    who: 'caller',
    meaning:
      'The control API cannot make this change: the object already exists, or its state forbids the change.',
    nextStep: 'The message gives the reason.',
  },
  space_mismatch: {
    status: 412,
    type: 'invalid_request_error',
    retry: false,
    who: 'caller',
    meaning:
      'The request pins a vector space with `x-torana-space`, and the model answers in another vector space. Or the request also has a field that Torana does not know and that may change vectors, so that Torana cannot say which space the answer is in.',
    nextStep:
      'Read the current space from the `x-torana-space` header of an answer. If it has changed, embed all documents again. If the message names a field, remove the field, or send the request without `x-torana-space`.',
  },
  invalid_image_file: {
    status: 400,
    type: 'invalid_request_error',
    retry: false,
    who: 'caller',
    meaning:
      'Torana does not accept an input image, mask or markup of the request. It may be in another format than PNG, JPEG or WebP, or have too many pixels, bytes or frames. It may be damaged or cut short. A mask may have another size than the first input image. Torana checks the header and the end of the file, not its pixels.',
    nextStep: 'The message says which file and why. Send another file.',
  },
  body_too_large: {
    status: 413,
    type: 'invalid_request_error',
    retry: false,
    who: 'caller',
    meaning: 'The request body is larger than the limit.',
    nextStep:
      'Send the inputs in several requests. Operators: raise `limits.embeddingsBodyBytes`, `limits.contentsBodyBytes` (requests with media), `limits.imagesBodyBytes`, `limits.editsBodyBytes`, `limits.editFileBytes` or `limits.editsJsonBytes`.',
  },
  unsupported_media_type: {
    status: 415,
    type: 'invalid_request_error',
    retry: false,
    who: 'caller',
    meaning:
      'The body is compressed, or its content type is not JSON. For edits a form with a boundary is accepted too.',
    nextStep:
      'Send JSON with `content-type: application/json`, or a form as `multipart/form-data` with its boundary. Do not send `content-encoding`.',
  },
  idempotency_key_reused: {
    status: 422,
    type: 'invalid_request_error',
    retry: false,
    who: 'caller',
    meaning: 'The same `Idempotency-Key` was used for a different request within the last 24 hours.',
    nextStep: 'Use a new key for each new request, and the same key only to retry the same request.',
  },
  asset_gone: {
    status: 410,
    type: 'not_found_error',
    retry: false,
    who: 'caller',
    meaning: 'The image was deleted because its retention time is over.',
    nextStep: 'Fetch images within the retention time, or ask the operator for a longer one.',
  },
  asset_link_invalid: {
    status: 403,
    type: 'permission_error',
    retry: false,
    who: 'caller',
    meaning: 'The signed link of an image has expired, or was changed.',
    nextStep: 'Fetch the image with a key of its project, without `exp` and `sig` in the address.',
  },
  outcome_unknown: {
    // Not a 5xx: many clients retry those by themselves, whatever a header says, and a retry is a second purchase.
    status: 424,
    type: 'upstream_error',
    retry: false,
    who: 'operator',
    meaning:
      'The upstream may have made the images and charged for them, but its answer did not arrive. A retry could pay twice, so Torana does not retry.',
    nextStep:
      'If paying twice is acceptable, send the request again with a new `Idempotency-Key`. Operators: `torana unknowns` lists the call.',
  },
  headers_too_large: {
    status: 431,
    type: 'invalid_request_error',
    retry: false,
    who: 'caller',
    meaning: 'The request headers are larger than 16 KB in total.',
    nextStep: 'Send shorter headers. Cookies are the usual reason.',
  },
  client_closed_request: {
    status: 499,
    type: 'invalid_request_error',
    retry: false,
    who: 'caller',
    meaning:
      'The client closed the connection before it had the whole answer. No client sees this code: the log, the request log and the metrics have it. Torana makes no further upstream call for such an embeddings request. Calls that were already sent are accounted for. Image jobs go on.',
    nextStep:
      'If it happens often, compare the timeouts of your clients with the time that their requests take.',
  },
} as const satisfies Record<string, FaultEntry>
