/** `?`: what the keyboard does. */
import { words } from '../words/words.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Kbd, withCommand } from '../ui/kbd.tsx'
import { Switch } from '../ui/switch.tsx'
import { useLetters } from './keys.ts'
import { PLACES } from './navigation.ts'

export function KeyList({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
  const [letters, setLetters] = useLetters()
  const { keys } = words.shell
  const lines: readonly (readonly [names: readonly string[], does: string])[] = [
    [[withCommand('K')], keys.palette],
    [['/'], keys.search],
    [['j', 'k', '↑', '↓'], keys.rows],
    [['↵', 'space', 'esc'], keys.open],
    [['f', 'x'], keys.filters],
    [['l'], keys.live],
    [['t'], keys.table],
    [['c'], keys.copy],
    [[withCommand('↵')], keys.submit],
    [['?'], keys.list],
  ]
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={keys.title}
      note={keys.letters}
      actions={
        <Switch checked={letters} onChange={setLetters}>
          {letters ? keys.lettersOn : keys.lettersOff}
        </Switch>
      }
    >
      <dl className="grid grid-cols-2 gap-x-8 gap-y-2 phone:grid-cols-1">
        {[...lines, ...PLACES.map((place) => [['g', place.key], place.title] as const)].map(
          ([names, does]) => (
            <div key={names.join(' ')} className="flex items-center gap-2">
              <dt className="order-2 flex gap-1">
                {names.map((name) => (
                  <Kbd key={name}>{name}</Kbd>
                ))}
              </dt>
              <dd className="order-1 flex-1 text-ink-2">{does}</dd>
            </div>
          ),
        )}
      </dl>
    </Dialog>
  )
}
