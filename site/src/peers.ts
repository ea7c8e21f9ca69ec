/** The gateways of the home page, and what follows from their figures. */
import { numberOf } from './project.ts'

export const FAULT_KINDS = ['passed-on', 'corrected', 'refused'] as const

export const PEERS = [
  { id: 'torana-strict', name: 'Torana', what: 'every call in a PostgreSQL ledger' },
  { id: 'portkey', name: 'Portkey', what: 'no keys, no ledger' },
  { id: 'bifrost', name: 'Bifrost', what: 'virtual key, log in SQLite' },
  { id: 'litellm', name: 'LiteLLM', what: 'master key, no database' },
] as const
const others = PEERS.slice(1)

/** Each gateway got the same faults. */
export const FAULT_CASES = FAULT_KINDS.map((kind) => numberOf(`peers.torana-strict.faults.${kind}`)).reduce(
  (sum, count) => sum + count,
)

const passedOn = others.map(({ id }) => numberOf(`peers.${id}.faults.passed-on`))
/** The fewest and the most faults that another gateway passed on. */
export const [FEWEST_PASSED_ON, MOST_PASSED_ON] = [Math.min(...passedOn), Math.max(...passedOn)]

const own =
  numberOf('peers.torana-strict.times-bare.base64') + numberOf('peers.torana-strict.stores-times-bare.base64')
const next = Math.min(...others.map(({ id }) => numberOf(`peers.${id}.times-bare.base64`)))
/** CPU of Torana and its stores, as a share of the CPU of the next gateway. */
export const CPU_SHARE = `${Math.round((own / next) * 100)} %`
