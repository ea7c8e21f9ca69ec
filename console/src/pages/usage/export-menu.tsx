/** What is shown, or the rows behind it, as a file that the server streams. */
import { Download } from 'lucide-react'
import { useOpened } from '../../app/change-search.ts'
import { stringifySearch } from '../../app/search.ts'
import { useMay } from '../../app/session.ts'
import { apiUrl } from '../../api/client.ts'
import { Button } from '../../ui/button.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { words } from '../../words/words.ts'
import { usage as place } from './place.ts'

interface ExportMenuProps {
  readonly by: string
  readonly from: string
  readonly to: string
  readonly only: readonly string[]
  readonly project: string | undefined
}

export function ExportMenu(question: ExportMenuProps) {
  const may = useMay()
  const [isOpen, setOpen] = useOpened('export', place.useSearch().export)
  const say = words.usage
  const icon = <Download size={14} aria-hidden />
  if (!may('usage.export'))
    return (
      <Button icon={icon} why={say.exportForbidden}>
        {say.export}
      </Button>
    )
  const load = (rows: 'groups' | 'ledger', format: 'csv' | 'ndjson') => (): void => {
    const link = document.createElement('a')
    link.href = apiUrl(`/api/v1/usage/export${stringifySearch({ ...question, rows, format })}`)
    link.download = ''
    link.click()
  }
  return (
    <Menu
      align="end"
      open={isOpen}
      onOpenChange={setOpen}
      trigger={<Button icon={icon}>{say.export}</Button>}
    >
      <MenuItem onSelect={load('groups', 'csv')}>{say.exportShown}</MenuItem>
      <MenuItem onSelect={load('ledger', 'csv')}>{say.exportLedger}</MenuItem>
      <MenuItem onSelect={load('ledger', 'ndjson')}>{say.exportLedgerJson}</MenuItem>
    </Menu>
  )
}
