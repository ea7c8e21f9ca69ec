import { Page } from '../../ui/page.tsx'
import { words } from '../../words/words.ts'

export function SettingsPage() {
  return <Page title={words.settings.title} />
}
