/** Headers that say something of the request: those it came with that are kept, and those it was answered with. */
import type { RequestDetail } from '../../api/queries/requests.ts'
import { words } from '../../words/words.ts'

type Header = readonly [name: string, value: string]

export function HeadersTab({ request }: { readonly request: RequestDetail }) {
  const text = words.requests.headers
  return (
    <div className="flex flex-col gap-5 py-3">
      <HeaderTable title={text.came} headers={cameWith(request)} />
      <HeaderTable title={text.answered} headers={answeredWith(request)} />
      <p className="text-12 text-ink-3">{text.note}</p>
    </div>
  )
}

function cameWith({ key, client_request_id: client }: RequestDetail): readonly Header[] {
  const headers: Header[] = []
  if (key !== null) headers.push(['authorization', `${words.requests.headers.authorization} ${key}`])
  if (client !== null) headers.push(['x-client-request-id', client])
  return headers
}

/** As the gateway writes them: docs/headers tell what each means. */
function answeredWith(request: RequestDetail): readonly Header[] {
  const headers: Header[] = [['x-request-id', request.id]]
  if (request.outcome !== 'answered') return headers
  headers.push(['x-torana-deployment', request.deployments.join(', ')])
  headers.push(['x-torana-attempts', `${request.calls}`])
  headers.push(['x-torana-cost', request.unpriced ? 'unpriced' : (request.cost_usd ?? '')])
  if (request.usage !== null) headers.push(['x-torana-usage', request.usage])
  if (request.space !== null) headers.push(['x-torana-space', request.space])
  if (request.hits !== null && request.inputs !== null)
    headers.push(['x-torana-cache', `hits=${request.hits}, misses=${request.inputs - request.hits}`])
  if (request.emulated.length > 0) headers.push(['x-torana-emulated', request.emulated.join(', ')])
  if (request.dropped.length > 0) headers.push(['x-torana-dropped', request.dropped.join(', ')])
  return headers
}

function HeaderTable({ title, headers }: { readonly title: string; readonly headers: readonly Header[] }) {
  if (headers.length === 0) return null
  return (
    <section>
      <h2 className="text-13 font-semibold">{title}</h2>
      <table className="mt-1 w-full border-collapse">
        <tbody>
          {headers.map(([name, value]) => (
            <tr key={name} className="h-8 border-b border-line">
              <th scope="row" className="mono-12 w-52 text-left font-normal text-ink-2">
                {name}
              </th>
              <td className="mono-12 break-all">{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
