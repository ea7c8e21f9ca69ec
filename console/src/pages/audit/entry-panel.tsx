/** One entry of the audit: before and after, and its place in the chain. */
import { X } from 'lucide-react'
import type { Schema } from '../../api/client.ts'
import { whole } from '../../app/format.ts'
import { IconButton } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import { CodeBlock } from '../../ui/code-block.tsx'
import { CopyIconButton } from '../../ui/copy.tsx'
import { Facts, Section } from '../../ui/page.tsx'
import { words } from '../../words/words.ts'
import { fieldChanges } from './changes.ts'

type Entry = Schema<'AuditEntry'>

interface EntryPanelProps {
  readonly entry: Entry
  /** The one before it in the chain, where it is at hand. */
  readonly before: Entry | undefined
  readonly onClose: () => void
}

export function EntryPanel({ entry, before, onClose }: EntryPanelProps) {
  const say = words.audit
  const changes = fieldChanges(entry.detail)
  return (
    <div className="flex flex-col gap-5 px-5 py-4">
      <header className="flex items-start gap-2">
        <div className="min-w-0 flex-1">
          <h2 className="text-15 font-semibold break-words">
            {say.actions[entry.action] ?? entry.action} {entry.target}
          </h2>
          <p className="text-12 text-ink-3">
            {entry.actor}
            {entry.address !== null && ` ${say.from} ${entry.address}`}
          </p>
        </div>
        <IconButton label={words.ui.close} onClick={onClose}>
          <X size={16} aria-hidden />
        </IconButton>
      </header>
      {changes !== undefined && (
        <table className="w-full table-fixed border-collapse text-12">
          <thead>
            <tr className="border-b border-line text-left text-ink-3">
              <th className="w-28 py-1 font-medium" aria-label={say.detail} />
              <th className="py-1 font-medium">{say.before}</th>
              <th className="py-1 font-medium">{say.after}</th>
            </tr>
          </thead>
          <tbody>
            {changes.map(({ field, before: old, after, isChanged }) => (
              <tr
                key={field}
                className={classes('border-b border-line align-top', isChanged && 'bg-selected')}
              >
                <td className="py-1.5 pr-2 pl-1 text-ink-3">{field}</td>
                <td className="py-1.5 pr-2 break-words text-ink-2">{old}</td>
                <td
                  className={classes('py-1.5 break-words', isChanged ? 'font-medium text-ink' : 'text-ink-2')}
                >
                  {after}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <Facts
        labelWidth={92}
        facts={[
          [say.columns.time, <time key="at">{entry.at}</time>],
          [
            say.columns.chain,
            `${say.entry(whole(entry.sequence))}, ${entry.intact ? say.intact : say.broken}`,
          ],
          [say.proof, say.proofs[entry.proof]],
          [say.hash, <Hash key="hash" of={entry} />],
          ...(before ? [[say.hashBefore, <Hash key="before" of={before} />] as const] : []),
        ]}
      />
      <Section title={say.json}>
        <CodeBlock code={JSON.stringify(entry, undefined, 2)} />
      </Section>
    </div>
  )
}

function Hash({ of: { hash } }: { readonly of: Entry }) {
  return (
    <span className="flex items-center gap-1">
      <span className="mono-12 truncate">
        {hash.slice(0, 12)}…{hash.slice(-4)}
      </span>
      <CopyIconButton text={hash} />
    </span>
  )
}
