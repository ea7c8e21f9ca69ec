import { Page } from '../../ui/page.tsx'
import { LoadingRows } from '../../ui/loading.tsx'
import { words } from '../../words/words.ts'

export function SettingsPage() {
  return (
    <Page title={words.settings.title}>
      <LoadingRows />
    </Page>
  )
}
