/** A request whose log was deleted: its rows in the ledger are all that is left. */
import type { ForgottenRequest } from '../../api/queries/requests.ts'
import { words } from '../../words/words.ts'
import { LedgerTable } from './ledger-table.tsx'

/** As long as the log is kept. */
const LOG_DAYS = 30

export function Forgotten({ request }: { readonly request: ForgottenRequest }) {
  return (
    <div className="flex flex-col gap-3 px-6 py-5 phone:px-4">
      <p>{words.requests.gone(LOG_DAYS)}</p>
      <LedgerTable rows={request.ledger} />
    </div>
  )
}
