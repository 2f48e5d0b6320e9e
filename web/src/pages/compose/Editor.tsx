import { Alert, Button, Checkbox, Chip, Grid, Group, Stack, Switch, Tabs, Text, TextInput, Title } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconCalendarCheck, IconDeviceFloppy, IconRocket, IconSend, IconTrash } from '@tabler/icons-react'
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { type Account, api, ifMatch, type Post, type Schemas, take } from '../../api/client'
import { AccountName, NetworkIcon } from '../../components/network'
import { Page } from '../../components/Page'
import { Time } from '../../components/Time'
import { ZoneSelect } from '../../components/ZoneSelect'
import { problemText, sayDone, sayFailed } from '../../lib/say'
import { useMe } from '../../lib/session'
import { toInstant } from '../../lib/time'
import { contentOf, type Draft, draftOf, isAhead, isBlank, newDraft, type Part } from './draft'
import { type Count, Parts } from './Parts'
import { TargetPreview } from './Preview'
import { type Saving, useSaving } from './useSaving'
import { refreshPosts } from '../../lib/posts'

interface Props {
  post?: Post
  at?: string
  accounts: Account[]
  created: (p: Post) => void
}

export function Editor({ post, at, accounts, created }: Props) {
  const { t } = useTranslation()
  const me = useMe()
  const [draft, setDraft] = useState<Draft>(() =>
    post ? draftOf(post) : newDraft(accounts.filter((a) => a.default && a.status === 'connected').map((a) => a.id), me.workspace.time_zone, at))
  const saving = useSaving(draft, post, created)
  const [tab, setTab] = useState('all')
  const [seen] = useDebouncedValue(draft, 300)
  const preview = useQuery({
    queryKey: ['preview', seen],
    placeholderData: keepPreviousData,
    retry: false,
    gcTime: 10_000,
    queryFn: ({ signal }) =>
      take(api.POST('/api/v1/posts/preview', { signal, body: { ...contentOf(seen), ...(seen.when ? { scheduled_time: seen.when } : {}) } })),
  })
  const current = tab !== 'all' && draft.accounts.includes(tab) ? tab : 'all'
  const chosen = accounts.filter((a) => draft.accounts.includes(a.id))
  const counts = countsOf(preview.data, current === 'all' ? draft.accounts.filter((id) => !draft.versions[id]) : [current])
  const changeParts = (id: string) => (update: (p: Part[]) => Part[]) =>
    setDraft((d) => (id === 'all' ? { ...d, parts: update(d.parts) } : { ...d, versions: { ...d.versions, [id]: update(d.versions[id] ?? d.parts) } }))
  const toggle = (id: string, different: boolean) =>
    setDraft((d) => {
      const { [id]: _, ...others } = d.versions
      return { ...d, versions: different ? { ...others, [id]: structuredClone(d.parts) } : others }
    })

  return (
    <Page title={post && post.status !== 'draft' ? t('compose.editTitle') : t('compose.title')} lead={<SavingSign state={saving.state} draft={(saving.stored?.status ?? 'draft') === 'draft'} error={saving.error} />}>
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, md: 7 }}>
          <Stack gap="md">
            <Targets accounts={accounts} value={draft.accounts} onChange={(ids) => setDraft((d) => ({ ...d, accounts: ids }))} />
            <Tabs value={current} onChange={(v) => setTab(v ?? 'all')} keepMounted={false}>
              <Tabs.List mb="sm">
                <Tabs.Tab value="all">{t('compose.allNetworks')}</Tabs.Tab>
                {chosen.map((a) => (
                  <Tabs.Tab key={a.id} value={a.id} leftSection={<NetworkIcon network={a.network} size={16} />} rightSection={draft.versions[a.id] ? '•' : undefined}>
                    {a.handle}
                  </Tabs.Tab>
                ))}
              </Tabs.List>
              <Tabs.Panel value="all">
                <Parts label={t('compose.text')} value={draft.parts} change={changeParts('all')} counts={counts} />
              </Tabs.Panel>
              {chosen.map((a) => (
                <Tabs.Panel key={a.id} value={a.id}>
                  <Stack gap="sm">
                    <Switch label={t('compose.different', { handle: a.handle })} checked={a.id in draft.versions} onChange={(e) => toggle(a.id, e.currentTarget.checked)} />
                    {draft.versions[a.id] ? (
                      <Parts label={t('compose.textFor', { handle: a.handle })} value={draft.versions[a.id] ?? []} change={changeParts(a.id)} counts={counts} />
                    ) : (
                      <Text c="dimmed" size="sm">
                        {t('compose.sameText')}
                      </Text>
                    )}
                  </Stack>
                </Tabs.Panel>
              ))}
            </Tabs>
            <Checkbox label={t('compose.trackLinks')} description={t('compose.trackLinksText')} checked={draft.trackLinks} onChange={(e) => {
              const trackLinks = e.currentTarget.checked
              setDraft((d) => ({ ...d, trackLinks }))
            }} />
            <Schedule draft={draft} setDraft={setDraft} saving={saving} preview={preview.data} />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 5 }}>
          <Stack gap="sm" component="section" aria-label={t('compose.preview')}>
            <Title order={2} size="h4">
              {t('compose.preview')}
            </Title>
            {preview.error && <Alert color="red">{problemText(preview.error)}</Alert>}
            {isBlank(draft) && <Text c="dimmed">{t('compose.previewEmpty')}</Text>}
            {!isBlank(draft) && preview.data?.targets.map((target) => (
              <TargetPreview key={target.account_id} target={target} parts={draft.versions[target.account_id] ?? draft.parts} />
            ))}
          </Stack>
        </Grid.Col>
      </Grid>
    </Page>
  )
}

/** Counts of each segment, one for each of the accounts. */
function countsOf(preview: Schemas['PostPreview'] | undefined, ids: string[]): Count[][] {
  const targets = (preview?.targets ?? []).filter((target) => ids.includes(target.account_id))
  const longest = Math.max(0, ...targets.map((target) => target.segments.length))
  return Array.from({ length: longest }, (_, i) =>
    targets.flatMap(({ network, handle, segments }) => {
      const s = segments[i]
      return s ? [{ network, handle, used: s.characters, allowed: s.characters_allowed }] : []
    }))
}

function SavingSign({ state, draft, error }: { state: Saving; draft: boolean; error: unknown }) {
  const { t } = useTranslation()
  if (state === 'failed')
    return (
      <Text size="sm" c="red" role="alert" span>
        {t('compose.saveFailed')} {problemText(error)}
      </Text>
    )
  return (
    <Text size="sm" c="dimmed" role="status" data-saving={state} span>
      {draft ? t(`compose.saving.${state}`) : t('compose.notAutomatic')}
    </Text>
  )
}

function Targets({ accounts, value, onChange }: { accounts: Account[]; value: string[]; onChange: (ids: string[]) => void }) {
  const { t } = useTranslation()
  return (
    <div role="group" aria-label={t('compose.accounts')}>
      <Text size="sm" fw={600} mb={6}>
        {t('compose.accounts')}
      </Text>
      <Chip.Group multiple value={value} onChange={onChange}>
        <Group gap={6}>
          {accounts.filter((a) => a.status !== 'disconnected' || value.includes(a.id)).map((a) => (
            <Chip key={a.id} value={a.id} variant="outline" radius="md">
              <Group gap={6} wrap="nowrap" component="span">
                <AccountName network={a.network} handle={a.handle} />
              </Group>
            </Chip>
          ))}
        </Group>
      </Chip.Group>
      {value.length === 0 && (
        <Text size="sm" c="var(--mantine-color-error)" mt={4}>
          {t('compose.chooseAccount')}
        </Text>
      )}
    </div>
  )
}

interface ScheduleProps {
  draft: Draft
  setDraft: (update: (d: Draft) => Draft) => void
  saving: ReturnType<typeof useSaving>
  preview?: Schemas['PostPreview']
}

function Schedule({ draft, setDraft, saving, preview }: ScheduleProps) {
  const { t } = useTranslation()
  const me = useMe()
  const navigate = useNavigate()
  const client = useQueryClient()
  const needsApproval = me.role === 'author' && me.workspace.authors_need_approval
  const isDraft = (saving.stored?.status ?? 'draft') === 'draft'
  const act = useMutation({
    mutationFn: async (what: 'schedule' | 'now' | 'submit' | 'save' | 'delete'): Promise<{ post: Post; what: string }> => {
      const saved = what === 'delete' ? saving.stored : await saving.save()
      if (!saved) throw new Error(t('compose.saveFailed'))
      const params = { path: { id: saved.id }, header: ifMatch(saved.version) }
      switch (what) {
        case 'schedule':
          return { what, post: await take(api.POST('/api/v1/posts/{id}/schedule', { params, body: { scheduled_time: draft.when, time_zone: draft.zone } })) }
        case 'now':
          return { what, post: await take(api.POST('/api/v1/posts/{id}/publish-now', { params })) }
        case 'submit':
          return { what, post: await take(api.POST('/api/v1/posts/{id}/submit', { params })) }
        case 'delete':
          return { what, post: await take(api.DELETE('/api/v1/posts/{id}', { params })) }
        default:
          return { what, post: saved }
      }
    },
    onSuccess: async ({ post, what }) => {
      saving.accept(post)
      client.setQueryData(['post', post.id], post)
      refreshPosts(client)
      if (what === 'delete') await navigate({ to: '/calendar' })
      else {
        sayDone(t(post.approval?.state === 'pending' ? 'compose.done.submit' : `compose.done.${what as 'schedule' | 'now' | 'submit' | 'save'}`))
        await navigate({ to: '/posts/$id', params: { id: post.id } })
      }
    },
    onError: sayFailed,
  })
  const blocking = (preview?.problems ?? []).filter((p) => !(draft.when === '' && p.field === 'scheduled_time'))
  const blank = isBlank(draft) || draft.accounts.length === 0
  const past = draft.when !== '' && !isAhead(draft)
  return (
    <Stack gap="sm" className="dl-card" p="md" component="section" aria-label={t('compose.when')}>
      <Title order={2} size="h5">
        {t('compose.when')}
      </Title>
      <Group align="flex-start" gap="sm">
        <TextInput
          type="datetime-local"
          label={t('compose.time')}
          value={draft.when}
          error={past ? t('compose.past') : undefined}
          onChange={(e) => {
            const when = e.currentTarget.value
            setDraft((d) => ({ ...d, when }))
          }}
        />
        <ZoneSelect value={draft.zone} onChange={(zone) => setDraft((d) => ({ ...d, zone }))} />
      </Group>
      {draft.when !== '' && draft.zone !== me.workspace.time_zone && (
        <Text size="sm" c="dimmed">
          {t('compose.elsewhere', { zone: me.workspace.time_zone })} <Time at={toInstant(draft.when, draft.zone).toISOString()} />
        </Text>
      )}
      {!isBlank(draft) && blocking.length > 0 && (
        <Alert color="red" title={t('compose.problems')} role="status">
          <Stack gap={4}>
            {blocking.map((p) => (
              <Text key={p.field + p.code + p.message} size="sm">
                {p.message}
              </Text>
            ))}
          </Stack>
        </Alert>
      )}
      {!isBlank(draft) && (preview?.warnings ?? []).length > 0 && (
        <Alert color="yellow" title={t('compose.warnings')} role="status">
          <Stack gap={4}>
            {preview?.warnings.map((w, i) => (
              <Text key={i} size="sm" data-warning={w.code}>
                {w.message}
              </Text>
            ))}
          </Stack>
        </Alert>
      )}
      <Group gap="xs">
        {isDraft && !needsApproval && (
          <Button leftSection={<IconCalendarCheck size={18} aria-hidden />} disabled={blank || draft.when === '' || past || blocking.length > 0} loading={act.isPending && act.variables === 'schedule'} onClick={() => act.mutate('schedule')}>
            {t('compose.schedule')}
          </Button>
        )}
        {isDraft && needsApproval && (
          <Button leftSection={<IconSend size={18} aria-hidden />} disabled={blank || draft.when === '' || past || blocking.length > 0} loading={act.isPending && act.variables === 'submit'} onClick={() => act.mutate('submit')}>
            {t('compose.submit')}
          </Button>
        )}
        {isDraft && !needsApproval && (
          <Button variant="default" leftSection={<IconRocket size={18} aria-hidden />} disabled={blank || blocking.length > 0} loading={act.isPending && act.variables === 'now'} onClick={() => act.mutate('now')}>
            {t('compose.now')}
          </Button>
        )}
        {!isDraft && (
          <Button leftSection={<IconDeviceFloppy size={18} aria-hidden />} disabled={blank || blocking.length > 0 || saving.state === 'clean'} loading={act.isPending} onClick={() => act.mutate('save')}>
            {t(saving.stored?.status === 'scheduled' ? 'compose.save' : 'compose.saveAndSend')}
          </Button>
        )}
        {isDraft && saving.stored && (
          <Button variant="subtle" color="red" leftSection={<IconTrash size={18} aria-hidden />} onClick={() => act.mutate('delete')}>
            {t('compose.delete')}
          </Button>
        )}
      </Group>
    </Stack>
  )
}
