/** What the gateway, its operator or an upstream has to answer for. */
import type { FaultEntry } from './entry.ts'

export const SERVER_FAULTS = {
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
  image_store_unreachable: {
    status: 503,
    type: 'server_error',
    retry: true,
    who: 'operator',
    meaning:
      'Images need PostgreSQL: without it a picture could be bought twice, or be paid for and lost. Nothing was bought.',
    nextStep: 'Retry. Operators: look at PostgreSQL.',
  },
  asset_store_unreachable: {
    status: 503,
    type: 'server_error',
    retry: true,
    who: 'operator',
    meaning: 'The picture is kept, but can not be read at the moment.',
    nextStep: 'Retry. Operators: look at the store that `ASSETS_URL` names.',
  },
  deployments_busy: {
    status: 503,
    type: 'server_error',
    retry: true,
    who: 'operator',
    meaning:
      'All healthy deployments of the model have as many calls under way as they can answer in time, and the line for them is long enough. Nothing was sent.',
    nextStep: 'Retry after `retry-after`. Operators: add deployments, or capacity at the upstream.',
  },
  no_healthy_deployment: {
    status: 503,
    type: 'server_error',
    retry: true,
    who: 'upstream',
    meaning:
      'All deployments of the model failed so often of late that they are left alone for a moment. Nothing was sent.',
    nextStep:
      'Retry after `retry-after`: they are tried again by themselves. Operators: the metrics and the log say how they failed.',
  },
  space_quarantined: {
    status: 503,
    type: 'server_error',
    retry: false,
    who: 'operator',
    meaning:
      'No deployment of the model answers in its vector space at present: those that are left make other vectors than they did, which must not be mixed with what was made before.',
    nextStep:
      'Operators: `torana spaces` says which and since when. Mend the upstream, or accept its new space and embed everything anew.',
  },
  space_unprobed: {
    status: 503,
    type: 'server_error',
    retry: true,
    who: 'operator',
    meaning:
      'No deployment of the model that is left was compared with its vector space yet: it is new, leads elsewhere since the configuration changed, or another space was accepted. Nothing was sent.',
    nextStep:
      'Retry after `retry-after`: a comparison takes a moment. Operators: if it lasts, `torana spaces` says why the probe fails.',
  },
  space_unknown: {
    status: 503,
    type: 'server_error',
    retry: true,
    who: 'operator',
    meaning:
      'The request pins a vector space, and this node, which started without PostgreSQL, does not know yet which one the model has. Nothing was sent.',
    nextStep: 'Retry after `retry-after`, another node may know. Operators: look at PostgreSQL.',
  },
  space_left: {
    status: 503,
    type: 'server_error',
    retry: true,
    who: 'upstream',
    meaning:
      'While the request was under way its deployment was found outside the vector space of the model, or another space was accepted for it. Its vectors were made and are not handed out.',
    nextStep: 'Retry: another deployment answers, if there is one in the space.',
  },
  node_overloaded: {
    status: 503,
    type: 'server_error',
    retry: true,
    who: 'operator',
    meaning: 'This node has no processor time left. The request was refused before it was read.',
    nextStep: 'Retry after `retry-after`. Operators: add nodes, or workers.',
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
      'This node could not write the files of an edit to its disk: it is full or broken, or holds `limits.uploadBytes` of files already. Nothing was bought.',
    nextStep:
      'Retry. Operators: look at the disk of `TORANA_DATA_DIR`, whose folder `uploads` they go to; the log says what the system said.',
  },
  image_files_lost: {
    status: 503,
    type: 'server_error',
    retry: true,
    who: 'gateway',
    meaning:
      'The node that held the files of this edit died before anything was bought with them. Nothing was charged.',
    nextStep: 'Send the request again, with its files.',
  },
  too_many_image_jobs: {
    status: 503,
    type: 'server_error',
    retry: true,
    who: 'operator',
    meaning: 'This node works on as many image jobs as it may. Nothing was bought.',
    nextStep: 'Retry. Operators: add nodes.',
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
    nextStep:
      'Retry, perhaps with fewer inputs. A shorter `timeout` in the SDK shortens that of embeddings too.',
  },
} as const satisfies Record<string, FaultEntry>
