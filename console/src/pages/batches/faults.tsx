/** How lines failed, by code; and why a file was refused as a whole. */
import { Download } from 'lucide-react'
import { batchFileUrl, type BatchDetail } from '../../api/queries/batches.ts'
import { share, whole } from '../../app/format.ts'
import { paths } from '../../app/paths.ts'
import { Meter } from '../../charts/meter.tsx'
import { TextLink } from '../../ui/link.tsx'
import { Section } from '../../ui/page.tsx'
import { words } from '../../words/words.ts'

export function Faults({ batch }: { readonly batch: BatchDetail }) {
  const { faults, lines, id } = batch
  const say = words.batches
  return (
    <Section
      title={say.faults}
      actions={
        batch.errors.bytes > 0 && (
          <a
            href={batchFileUrl(id, 'errors')}
            download
            className="link inline-flex items-center gap-1.5 text-12"
          >
            <Download size={13} aria-hidden />
            {say.downloadErrors}
          </a>
        )
      }
    >
      {faults.length === 0 ? (
        <p className="pt-1 text-ink-2">{say.noFaults}</p>
      ) : (
        <table aria-label={say.faults} className="w-full max-w-180 border-collapse">
          <thead>
            <tr className="border-b border-line text-12 text-ink-2">
              <th scope="col" className="h-8 text-left font-medium">
                {say.code}
              </th>
              <th scope="col" className="h-8 w-28 text-right font-medium">
                {say.lines}
              </th>
              <th scope="col" className="h-8 w-56 pl-6 text-left font-medium phone:w-24 phone:pl-4">
                {say.ofAll}
              </th>
            </tr>
          </thead>
          <tbody>
            {faults.map(({ code, lines: failed }) => (
              <tr key={code} className="border-b border-line">
                <td className="h-8 truncate">
                  <TextLink to={paths.requests({ client: id, fault: code, ...rangeOf(batch) })}>
                    <span className="mono-12">{code}</span>
                  </TextLink>
                </td>
                <td className="h-8 text-right tabular-nums">{whole(failed)}</td>
                <td className="h-8 pl-6 phone:pl-4">
                  <span className="flex items-center gap-2.5">
                    <span className="phone:hidden">
                      <Meter share={failed / lines.total} colour="bad" width={96} />
                    </span>
                    <span className="tabular-nums text-ink-2">{share(failed / lines.total)}</span>
                  </span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Section>
  )
}

/** The time in which its requests were made. */
export function rangeOf({ created_at: made, ended_at: ended, expires_at: expires }: BatchDetail) {
  return { from: made, to: ended ?? expires }
}

export function FileErrors({ errors }: { readonly errors: BatchDetail['file_errors'] }) {
  const say = words.batches
  return (
    <Section title={say.fileErrors}>
      <p className="pt-1 text-ink-2">{say.fileErrorsText}</p>
      <ul className="flex flex-col gap-2 pt-3">
        {errors.map(({ code, message, line }, index) => (
          <li key={index} className="flex gap-3 phone:flex-col phone:gap-0.5">
            <span className="w-20 shrink-0 tabular-nums text-ink-3">
              {line === null ? '' : say.line(line)}
            </span>
            <span className="mono-12 w-44 shrink-0 truncate text-bad">{code}</span>
            <span className="min-w-0 break-words">{message}</span>
          </li>
        ))}
      </ul>
    </Section>
  )
}
