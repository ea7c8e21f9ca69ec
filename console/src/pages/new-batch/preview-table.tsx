/** The first rows of the file. A click on a head chooses the text column. */
import { Check, KeyRound } from 'lucide-react'
import { classes } from '../../ui/classes.ts'
import { words } from '../../words/words.ts'
import type { CorpusProfile } from '../../workers/corpus/profile.ts'

interface PreviewTableProps {
  readonly profile: CorpusProfile
  readonly textColumn: string | undefined
  readonly idColumn: string | null
  readonly onTextColumn: (column: string) => void
}

export function PreviewTable({ profile, textColumn, idColumn, onTextColumn }: PreviewTableProps) {
  const say = words.newBatch.file
  const isText = (column: string): boolean => column === textColumn
  return (
    <div
      // A file may have more columns than fit.
      tabIndex={0}
      className="overflow-x-auto rounded-control border border-line"
      role="region"
      aria-label={say.preview}
    >
      <table className="w-full border-collapse text-12">
        <thead className="bg-sunken">
          <tr>
            {profile.columns.map(({ name }) => (
              <th
                key={name}
                scope="col"
                className={classes(
                  'p-0 text-left font-medium',
                  isText(name) && 'min-w-60 bg-accent-tint @max-[600px]:min-w-40',
                )}
              >
                <button
                  type="button"
                  aria-pressed={isText(name)}
                  aria-label={say.asTextColumn(name)}
                  title={say.asTextColumn(name)}
                  className={classes(
                    'flex h-8 w-full items-center gap-1 px-2.5 whitespace-nowrap',
                    isText(name) ? 'font-semibold text-accent' : 'text-ink-2 hover:text-ink',
                  )}
                  onClick={() => onTextColumn(name)}
                >
                  {name === idColumn && <KeyRound size={12} strokeWidth={2.25} aria-hidden />}
                  {isText(name) && <Check size={12} strokeWidth={2.25} aria-hidden />}
                  {name}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {profile.preview.map((cells, row) => (
            <tr key={row} className="border-t border-line">
              {profile.columns.map(({ name }, index) => (
                <td
                  key={name}
                  dir="auto"
                  className={classes(
                    'h-8 truncate px-2.5',
                    isText(name)
                      ? 'w-full max-w-0 bg-accent-tint'
                      : 'max-w-44 text-ink-2 @max-[600px]:max-w-24',
                    name === idColumn && 'mono-12',
                  )}
                >
                  {cells[index]}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
