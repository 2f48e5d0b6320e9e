import { Button, Group, NumberInput, Stack, Switch, Textarea } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api, type Schemas, unwrap } from '../../api/client'
import { Failed, WaitingRows } from '../../components/states'
import { FormDialog } from '../../components/FormDialog'
import { useAct } from '../../lib/act'
import { forget, useFormState } from '../../lib/formState'

type Stored = Schemas['StoryPreferences']

const name = 'story preferences'

/** The alert about missed stories, and the owners of domains. */
export function Preferences({ close }: { close: () => void }) {
  const { t } = useTranslation()
  const stored = useQuery({
    queryKey: ['story-preferences'],
    queryFn: () => unwrap(api.GET('/api/v1/story-preferences')),
    staleTime: 0,
  })
  return (
    <FormDialog form={name} opened onClose={close} title={t('stories.alerts')}>
      {stored.error ? (
        <Failed error={stored.error} retry={() => void stored.refetch()} />
      ) : !stored.data ? (
        <WaitingRows />
      ) : (
        <Form start={stored.data} close={close} />
      )}
    </FormDialog>
  )
}

const linesOf = (owners: Record<string, string>) =>
  Object.entries(owners)
    .map(([domain, owner]) => `${domain}: ${owner}`)
    .join('\n')

/** The owners by domain, or undefined if a line is not "domain: owner". */
function ownersOf(lines: string): Record<string, string> | undefined {
  const pairs = lines
    .split('\n')
    .filter((line) => line.trim())
    .map(
      (line) =>
        /^([^:]+):(.+)$/
          .exec(line)
          ?.slice(1)
          .map((part) => part.trim()) ?? [],
    )
  return pairs.every(([domain, owner]) => domain && owner) ? Object.fromEntries(pairs) : undefined
}

function Form({ start, close }: { start: Stored; close: () => void }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const [form, setForm] = useFormState(name, 'form', start)
  const [owners, setOwners] = useFormState(name, 'owners', linesOf(start.owners))
  const change = (update: Partial<Stored>) => setForm((was) => ({ ...was, ...update }))
  const named = ownersOf(owners)
  const save = useAct({
    send: () => unwrap(api.PUT('/api/v1/story-preferences', { body: { ...form, owners: named ?? {} } })),
    accepted: (stored) => {
      forget(name)
      client.setQueryData(['story-preferences'], stored)
      void client.invalidateQueries({ queryKey: ['stories'] })
      close()
    },
    done: () => t('stories.saved'),
  })
  return (
    <Stack
      component="form"
      onSubmit={(e) => {
        e.preventDefault()
        if (named) save.mutate()
      }}
    >
      <Switch
        label={t('stories.alertEnabled')}
        description={t('stories.alertHelp')}
        checked={form.alert_enabled}
        onChange={(e) => change({ alert_enabled: e.currentTarget.checked })}
      />
      <NumberInput
        label={t('stories.alertOwners')}
        min={2}
        max={100}
        value={form.min_owners}
        onChange={(v) => change({ min_owners: Number(v) })}
      />
      <NumberInput
        label={t('stories.alertAge')}
        min={1}
        max={72}
        value={form.max_age_hours}
        onChange={(v) => change({ max_age_hours: Number(v) })}
      />
      <Switch
        label={t('stories.createDraft')}
        description={t('stories.createDraftHelp')}
        checked={form.create_draft}
        onChange={(e) => change({ create_draft: e.currentTarget.checked })}
      />
      <Textarea
        label={t('stories.ownersOf')}
        description={t('stories.ownersHelp')}
        autosize
        minRows={2}
        maxRows={8}
        value={owners}
        error={!named && t('stories.ownersWrong')}
        onChange={(e) => setOwners(e.currentTarget.value)}
      />
      <Group justify="flex-end">
        <Button variant="default" onClick={close}>
          {t('stories.cancel')}
        </Button>
        <Button type="submit" loading={save.isPending}>
          {t('stories.save')}
        </Button>
      </Group>
    </Stack>
  )
}
