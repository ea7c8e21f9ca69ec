/** Faults that the gateway, its operator or an upstream has to correct. */
import type { FaultEntry } from './entry.ts'

export const SERVER_FAULTS = {
  internal_error: {
    status: 500,
    type: 'server_error',
    retry: true,
    who: 'gateway',
    meaning: 'Torana itself has a defect.',
    nextStep: 'Report it with the request id. The log has the cause under that id.',
  },
  upstream_failed: {
    status: 502,
    type: 'upstream_error',
    retry: true,
    who: 'upstream',
    meaning: 'Every deployment that Torana tried answered with a server error (5xx).',
    nextStep:
      'Retry. Operators: `upstream` in the error names the deployment and its status; the message names the deployments that were not tried, with the reason.',
  },
  upstream_unreachable: {
    status: 502,
    type: 'upstream_error',
    retry: true,
    who: 'upstream',
    meaning: 'Torana could not connect to the upstream, or the connection broke before an answer came.',
    nextStep:
      "Retry. Operators: the log, `torana requests` and the console name the address. Check the upstream's base URL, DNS and the network.",
  },
  upstream_broken_answer: {
    status: 502,
    type: 'upstream_error',
    retry: true,
    who: 'upstream',
    meaning:
      'The upstream answered 200, but the answer is wrong: not JSON, a wrong number of vectors, a wrong width, or values that are not finite. Torana does not pass such vectors on. A redirect ends so too: Torana follows none.',
    nextStep:
      'Retry if `x-should-retry` is `true`. It is `false` where the same request would get the same: another width, no `data`, vectors that are no numbers, a redirect, an answer that is too large. Operators: the message says what was wrong. A wrong width often means that the deployment runs another model.',
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
      "The upstream rejected the gateway's own credential, permission or quota, or a firewall in front of it blocked the gateway. The caller's key is fine.",
    nextStep:
      "Operators: check the upstream's `apiKey`, its permissions and its credit. If the message names a firewall, allow the gateway there; Cloudflare's error 1010 is about the header `user-agent`, which `upstreams.<name>.headers` can set.",
  },
  key_store_unreachable: {
    status: 503,
    type: 'server_error',
    retry: true,
    who: 'operator',
    meaning: 'Torana could not look the key up. The key itself may be valid.',
    nextStep:
      'Retry after `retry-after`, as SDKs do by themselves. Operators: check the store that the log names.',
  },
  store_unreachable: {
    status: 503,
    type: 'server_error',
    retry: true,
    who: 'operator',
    meaning: 'The control API could not reach PostgreSQL. The change may or may not have been made.',
    nextStep: 'List the objects to see whether the change was made, then retry. Operators: check PostgreSQL.',
  },
  image_store_unreachable: {
    status: 503,
    type: 'server_error',
    retry: true,
    who: 'operator',
    meaning:
      'Torana could not reach PostgreSQL, and images need it: without it an image could be paid for twice, or paid for and lost. Nothing was bought.',
    nextStep: 'Retry after `retry-after`, as SDKs do by themselves. Operators: check PostgreSQL.',
  },
  asset_store_unreachable: {
    status: 503,
    type: 'server_error',
    retry: true,
    who: 'operator',
    meaning: 'The image is stored, but Torana cannot read it at the moment.',
    nextStep: 'Retry. Operators: check the store that `ASSETS_URL` names.',
  },
  deployments_busy: {
    status: 503,
    type: 'server_error',
    retry: true,
    who: 'operator',
    meaning:
      'All healthy deployments of the model are at their limit of concurrent calls, and the queue for them is too long. Torana sent nothing to an upstream.',
    nextStep: 'Retry after `retry-after`. Operators: add deployments, or capacity at the upstream.',
  },
  no_healthy_deployment: {
    status: 503,
    type: 'server_error',
    retry: true,
    who: 'upstream',
    meaning:
      'The circuit breaker has ejected every deployment of the model, because too many of their recent calls failed. Torana sent nothing to an upstream.',
    nextStep:
      'Retry after `retry-after`: Torana tries ejected deployments again by itself. Operators: the metrics and the log say how they failed.',
  },
  deployments_drained: {
    status: 503,
    type: 'server_error',
    retry: true,
    who: 'operator',
    meaning:
      'An operator has drained every deployment that could serve the request: they get no calls until they are taken back. Torana sent nothing to an upstream.',
    nextStep:
      'Operators: take a deployment back in the console, or with `POST /api/v1/deployments/{id}/drain`.',
  },
  space_quarantined: {
    status: 503,
    type: 'server_error',
    retry: false,
    who: 'operator',
    meaning:
      "No available deployment answers in the model's vector space. Their vectors differ from earlier ones, and mixing the two would make a search return wrong results.",
    nextStep:
      'Operators: `torana spaces` shows which deployments and since when. Repair the upstream, or accept its new space and embed all documents again.',
  },
  space_unprobed: {
    status: 503,
    type: 'server_error',
    retry: true,
    who: 'operator',
    meaning:
      "Torana has compared no available deployment so far with the model's vector space. The deployment is new, or its configuration changed, or another space was accepted. Torana sent nothing to an upstream.",
    nextStep:
      'Retry after `retry-after`: the comparison takes a moment. Operators: if this lasts, `torana spaces` says why the probe fails.',
  },
  space_unknown: {
    status: 503,
    type: 'server_error',
    retry: true,
    who: 'operator',
    meaning:
      "The request pins a vector space. This node started without PostgreSQL and does not know the model's space yet. Torana sent nothing to an upstream.",
    nextStep: 'Retry after `retry-after`; another node may know the space. Operators: check PostgreSQL.',
  },
  space_left: {
    status: 503,
    type: 'server_error',
    retry: true,
    who: 'upstream',
    meaning:
      "While the request was running, its deployment left the model's vector space, or an operator accepted another space. Torana does not pass the vectors on.",
    nextStep: 'Retry: another deployment answers, if one is in the space.',
  },
  node_overloaded: {
    status: 503,
    type: 'server_error',
    retry: true,
    who: 'operator',
    meaning:
      'This node has no CPU time left, and its load shedding refused the request before reading it; or as many large requests of one project wait for it as may.',
    nextStep: 'Retry after `retry-after`. Operators: add nodes, or give this one more CPU.',
  },
  node_starting: {
    status: 503,
    type: 'server_error',
    retry: true,
    who: 'operator',
    meaning:
      'This node has just been started and is not ready yet. The request was refused before it was read.',
    nextStep: 'Retry after `retry-after`. Operators: send requests to nodes whose `/readyz` answers 200.',
  },
  uploads_unwritable: {
    status: 503,
    type: 'server_error',
    retry: true,
    who: 'operator',
    meaning:
      'This node could not write the files of a request to its disk. The disk is full or broken, or the files of running requests already fill `limits.uploadBytes`. Nothing was bought.',
    nextStep:
      'Retry. Operators: check the disk with the folder `uploads` in `TORANA_DATA_DIR`; the log has the error of the operating system.',
  },
  image_files_lost: {
    status: 503,
    type: 'server_error',
    retry: true,
    who: 'gateway',
    meaning:
      'The node that had the files of this edit died before it called an upstream. Nothing was charged.',
    nextStep: 'Send the request again, with its files.',
  },
  too_many_image_jobs: {
    status: 503,
    type: 'server_error',
    retry: true,
    who: 'operator',
    meaning:
      'This node already runs as many image jobs as it may, or as many of this project: each project has a share. Nothing was bought.',
    nextStep: 'Retry. Operators: add nodes, or raise `limits.maxImageJobs`.',
  },
  too_many_streams: {
    status: 503,
    type: 'server_error',
    retry: true,
    who: 'operator',
    meaning: 'This node serves as many live streams of the console as it may.',
    nextStep: 'Close a page of the console that is open elsewhere, or ask another node.',
  },
  too_many_exports: {
    status: 503,
    type: 'server_error',
    retry: true,
    who: 'operator',
    meaning: 'The control API: as many exports run on this node as may run at once.',
    nextStep: 'Retry after `retry-after`, when one of them has ended.',
  },
  too_many_bodies: {
    status: 503,
    type: 'server_error',
    retry: true,
    who: 'operator',
    meaning:
      'This node has no memory left for the body of the request: large requests that are still arriving or running use it, and each project has a share. The message says how much the own project uses. Nothing was bought.',
    nextStep:
      'Retry after `retry-after`, and send fewer large requests at once. Operators: add nodes, or raise `limits.bodyBytes`.',
  },
  budget_store_unreachable: {
    status: 503,
    type: 'server_error',
    retry: true,
    who: 'operator',
    meaning:
      'This node could not reach PostgreSQL, and it has spent its share of the hard budget. Torana refuses calls then, so that the budget holds.',
    nextStep: 'Retry after `retry-after`, as SDKs do by themselves. Operators: check PostgreSQL.',
  },
  ledger_unavailable: {
    status: 503,
    type: 'server_error',
    retry: true,
    who: 'operator',
    meaning:
      'Torana can write usage records neither to PostgreSQL nor to the spool on disk, or cannot note calls on disk. It sends no call that it could not record, and returns no result without a usage record. Records of calls that were in progress are kept, and written as soon as either takes them.',
    nextStep: 'Retry. Operators: check the disk of `TORANA_DATA_DIR` and PostgreSQL.',
  },
  upstream_timeout: {
    status: 504,
    type: 'upstream_error',
    retry: true,
    who: 'upstream',
    meaning: 'No deployment answered in time, or the time was over before a call was sent.',
    nextStep:
      'Retry, perhaps with fewer inputs. A shorter `timeout` in the SDK also shortens the time that Torana allows for embeddings.',
  },
} as const satisfies Record<string, FaultEntry>
