import { Alert, Button, Group, Stack, Switch, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api, type Schemas, unwrap } from '../../api/client'
import { Failed, WaitingRows } from '../../components/states'
import { ZoneSelect } from '../../components/ZoneSelect'
import { useAct } from '../../lib/act'
import { forget, useFormState } from '../../lib/formState'
import { useAtLeast } from '../../lib/session'
import { Exports } from './Exports'

type Settings = Schemas['Workspace']

/** Name, time zone, who needs approval, and what images keep. */
export function Workspace() {
  const owner = useAtLeast('owner')
  const stored = useQuery({
    queryKey: ['workspace'],
    queryFn: () => unwrap(api.GET('/api/v1/workspace')),
  })
  if (stored.error) return <Failed error={stored.error} retry={() => void stored.refetch()} />
  if (!stored.data) return <WaitingRows height={60} />
  return (
    <>
      <Form key={JSON.stringify(stored.data)} start={stored.data} />
      {owner && <Exports />}
    </>
  )
}

const fields = ['name', 'time_zone', 'authors_need_approval', 'keep_media_credit'] as const
const isSame = (a: Settings, b: Settings) => fields.every((f) => a[f] === b[f])

function Form({ start }: { start: Settings }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const owner = useAtLeast('owner')
  const form = `workspace ${start.id}`
  const [draft, setDraft] = useFormState(form, 'draft', start)
  const set = (to: Partial<Settings>) => setDraft((was) => ({ ...was, ...to }))
  const save = useAct<Settings, Settings>({
    send: async ({ name, time_zone, authors_need_approval, keep_media_credit }) => {
      const saved = await unwrap(
        api.PATCH('/api/v1/workspace', {
          body: { name: name.trim(), time_zone, authors_need_approval, keep_media_credit },
        }),
      )
      forget(form)
      client.setQueryData(['workspace'], saved)
      return saved
    },
    done: () => t('settings.saved'),
    undo: (_, v) => (v === start ? undefined : start),
    failed: () => t('settings.notSaved'),
    settled: () => void client.invalidateQueries({ queryKey: ['me'] }),
  })
  return (
    <form
      onSubmit={(e) => {
        e.preventDefault()
        save.mutate(draft)
      }}
    >
      <Stack maw={560}>
        {!owner && <Alert color="gray">{t('system.onlyOwners')}</Alert>}
        <TextInput
          label={t('settings.name')}
          required
          maxLength={200}
          readOnly={!owner}
          value={draft.name}
          onChange={(e) => set({ name: e.currentTarget.value })}
        />
        <ZoneSelect
          description={t('settings.zoneText')}
          readOnly={!owner}
          value={draft.time_zone}
          onChange={(time_zone) => set({ time_zone })}
        />
        <Switch
          label={t('settings.approval')}
          description={t('settings.approvalText')}
          disabled={!owner}
          checked={draft.authors_need_approval}
          onChange={(e) => set({ authors_need_approval: e.currentTarget.checked })}
        />
        <Switch
          label={t('settings.credit')}
          description={t('settings.creditText')}
          disabled={!owner}
          checked={draft.keep_media_credit}
          onChange={(e) => set({ keep_media_credit: e.currentTarget.checked })}
        />
        {owner && (
          <Group>
            <Button type="submit" loading={save.isPending} disabled={draft.name.trim() === '' || isSame(draft, start)}>
              {t('save')}
            </Button>
          </Group>
        )}
      </Stack>
    </form>
  )
}
