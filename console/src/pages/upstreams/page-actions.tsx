/** What can be done with all upstreams at once, and adding one. On a narrow screen all but adding is behind a menu. */
import { Download, Ellipsis, History, Plus, RefreshCw } from 'lucide-react'
import { apiUrl } from '../../api/client.ts'
import { useMay } from '../../app/session.ts'
import { useStreamState } from '../../app/stream.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { LiveMark } from '../../ui/live-mark.tsx'
import { usePhone } from '../../ui/media.ts'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { words } from '../../words/words.ts'
import type { Checks } from './checks.ts'

interface PageActionsProps {
  readonly names: readonly string[]
  readonly checks: Checks
  /** Undefined: the history is beside the page. */
  readonly onHistory: (() => void) | undefined
  readonly onAdd: () => void
}

export function PageActions({ names, checks, onHistory, onAdd }: PageActionsProps) {
  const isPhone = usePhone()
  const may = useMay()
  const stream = useStreamState()
  const say = words.routing
  const items = [
    {
      icon: <RefreshCw size={15} aria-hidden />,
      text: say.checkAll,
      busy: checks.busy,
      why: may('upstreams.write') ? undefined : say.onlyAdmins,
      run: () => void checks.checkAll(names),
    },
    {
      icon: <Download size={15} aria-hidden />,
      text: say.exportYaml,
      busy: false,
      why: may('configuration.export') ? undefined : say.onlyAdmins,
      run: exportYaml,
    },
  ]
  if (isPhone)
    return (
      <>
        <Menu
          align="end"
          trigger={
            <IconButton label={words.shell.more}>
              <Ellipsis size={16} aria-hidden />
            </IconButton>
          }
        >
          {items.map(({ icon, text, why, run }) => (
            <MenuItem key={text} icon={icon} why={why} onSelect={run}>
              {text}
            </MenuItem>
          ))}
          {onHistory && (
            <MenuItem icon={<History size={15} aria-hidden />} onSelect={onHistory}>
              {say.history.open}
            </MenuItem>
          )}
        </Menu>
        <AddUpstream onClick={onAdd} isShort />
      </>
    )
  return (
    <>
      <LiveMark state={stream} />
      {onHistory && (
        <IconButton label={say.history.open} look="plain" onClick={onHistory}>
          <History size={15} aria-hidden />
        </IconButton>
      )}
      {items.map(({ icon, text, busy, why, run }) => (
        <Button key={text} icon={icon} busy={busy} why={why} onClick={run}>
          {text}
        </Button>
      ))}
      <AddUpstream onClick={onAdd} />
    </>
  )
}

/** The node names the file. */
function exportYaml(): void {
  const link = document.createElement('a')
  link.href = apiUrl('/api/v1/configuration/export')
  link.download = ''
  link.click()
}

interface AddUpstreamProps {
  readonly onClick: () => void
  readonly isShort?: boolean
}

export function AddUpstream({ onClick, isShort = false }: AddUpstreamProps) {
  const may = useMay()
  const say = words.routing
  return (
    <Button
      look={isShort ? 'plain' : 'primary'}
      icon={<Plus size={15} aria-hidden />}
      why={may('upstreams.write') ? undefined : say.onlyAdmins}
      onClick={onClick}
    >
      {isShort ? say.addShort : say.add}
    </Button>
  )
}
