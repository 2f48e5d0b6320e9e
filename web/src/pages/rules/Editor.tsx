import {
  Alert,
  Button,
  Fieldset,
  Group,
  MultiSelect,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  Switch,
  TagsInput,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api, idempotencyHeader, ifMatchHeader, unwrap } from '../../api/client'
import { useAct } from '../../lib/act'
import { countsQuery, savedQuery } from '../../lib/newsQueries'
import { errorText } from '../../lib/notify'
import { accountsQuery, groupsQuery } from '../../lib/queries'
import { type Definition, hashtagLines, type NewRule, readHashtagLines } from './definition'
import { Preview } from './Preview'
import { TimingFields } from './TimingFields'
import { summaryOf } from './summary'
import { useNames } from './useNames'
import { Variants } from './Variants'
import { ViewFields } from './ViewFields'
import { forget, useFormState } from '../../lib/formState'
import { InlineFailed } from '../../components/states'
import { FormDialog } from '../../components/FormDialog'

const triggers = [
  ['domains', 'domain'],
  ['sections', 'section'],
  ['tags', 'tag'],
  ['authors', 'author'],
] as const

/** Creates or edits a rule, and previews it over the articles of the last seven days. */
export function Editor({
  start,
  id,
  version,
  close,
}: {
  start: NewRule
  id?: string
  version?: number
  close: () => void
}) {
  const { t, i18n } = useTranslation()
  const client = useQueryClient()
  const form = `rule ${id ?? ''}`
  const [name, setName] = useFormState(form, 'name', start.name)
  const [d, setDefinition] = useFormState(form, 'd', start.definition)
  const [hashtags, setHashtags] = useFormState(form, 'hashtags', () => hashtagLines(start.definition.hashtags))
  const [network, setNetwork] = useState('default')
  const set = (change: Partial<Definition>) => setDefinition((was) => ({ ...was, ...change }))
  const accounts = useQuery(accountsQuery).data ?? []
  const groups = useQuery(groupsQuery).data ?? []
  const saved = useQuery(savedQuery).data ?? []
  const known = useQuery(countsQuery({}))
  const facets = known.data?.facets ?? []
  const names = useNames()
  const values = (field: string) =>
    (facets.find((x) => x.field === field)?.values ?? []).map((v) => v.value).filter((v) => v !== '')
  // What the crawl found most of, as examples.
  const anyOf = (found: string[]) =>
    found.length > 0 ? t('rules.says.any', { examples: found.slice(0, 2).join(', ') }) : t('calendar.all')
  const networks = [
    ...new Set([...accounts.map((a) => a.network), ...Object.keys(d.templates).filter((n) => n !== 'default')]),
  ]
  const body = (): NewRule => ({ name, definition: { ...d, hashtags: readHashtagLines(hashtags) } })
  const preview = useAct({
    send: () => unwrap(api.POST('/api/v1/rules/preview', { body: body() })),
    done: () => undefined,
    failed: false,
  })
  const save = useAct({
    send: () =>
      unwrap(
        id
          ? api.PUT('/api/v1/rules/{id}', {
              params: { path: { id }, header: ifMatchHeader(version ?? 0) },
              body: body(),
            })
          : api.POST('/api/v1/rules', { params: { header: idempotencyHeader() }, body: body() }),
      ),
    accepted: () => {
      forget(form)
      close()
    },
    settled: () => void client.invalidateQueries({ queryKey: ['rules'] }),
    done: () => t('rules.saved', { name }),
    failed: false,
  })
  const template = (text: string) => {
    const templates = { ...d.templates, [network]: text }
    const variants = { ...d.variants }
    if (network !== 'default' && text === '') {
      delete templates[network]
      delete variants[network]
    }
    set({ templates, variants })
  }
  const error = save.error ?? preview.error
  return (
    <FormDialog form={form} opened onClose={close} size="xl" title={t(id ? 'rules.edit' : 'rules.new')}>
      <form
        onSubmit={(e) => {
          e.preventDefault()
          save.mutate()
        }}
      >
        <Stack>
          <TextInput
            label={t('rules.name')}
            required
            maxLength={80}
            value={name}
            onChange={(e) => setName(e.currentTarget.value)}
            data-autofocus
          />
          <Text size="sm" fw={500} className="dl-text" role="status" data-summary>
            {summaryOf(d, names, t, i18n.language)}
          </Text>
          <Fieldset legend={t('rules.trigger')}>
            {known.error && (
              <InlineFailed what={t('rules.noSuggestions')} error={known.error} retry={() => void known.refetch()} />
            )}
            <SimpleGrid cols={{ base: 1, sm: 2 }}>
              <ViewFields trigger={d.trigger} set={(trigger) => set({ trigger })} />
              {triggers.map(([field, facet]) => (
                <TagsInput
                  key={field}
                  label={t(`search.fields.${facet}`)}
                  placeholder={(d.trigger[field] ?? []).length > 0 ? undefined : anyOf(values(facet))}
                  data={values(facet)}
                  splitChars={[]}
                  maxTags={50}
                  value={d.trigger[field] ?? []}
                  onChange={(v) => set({ trigger: { ...d.trigger, [field]: v } })}
                />
              ))}
              <Select
                label={t('rules.savedSearch')}
                clearable
                data={saved.map((s) => ({ value: s.id, label: s.name }))}
                value={d.trigger.saved_search_id ?? null}
                onChange={(v) => set({ trigger: { ...d.trigger, saved_search_id: v ?? undefined } })}
              />
              <TagsInput
                label={t('search.fields.language')}
                data={values('language')}
                maxTags={50}
                value={d.conditions.languages ?? []}
                onChange={(v) => set({ conditions: { ...d.conditions, languages: v } })}
              />
              <NumberInput
                label={t('rules.minWords')}
                min={0}
                max={100000}
                value={d.conditions.min_words ?? 0}
                onChange={(v) => set({ conditions: { ...d.conditions, min_words: Number(v) } })}
              />
              {!d.trigger.evergreen && (
                <NumberInput
                  label={t('rules.maxAge')}
                  required
                  min={1}
                  max={168}
                  value={d.conditions.max_age_hours}
                  onChange={(v) => set({ conditions: { ...d.conditions, max_age_hours: Number(v) } })}
                />
              )}
            </SimpleGrid>
          </Fieldset>
          <Fieldset legend={t('rules.text')}>
            <Stack gap="sm">
              <Select
                label={t('rules.template')}
                description={t('rules.templateText')}
                allowDeselect={false}
                data={[
                  { value: 'default', label: t('rules.allNetworks') },
                  ...networks.map((n) => ({ value: n, label: n })),
                ]}
                value={network}
                onChange={(v) => v && setNetwork(v)}
              />
              <Textarea
                label={t('rules.templateOf', { network: network === 'default' ? t('rules.allNetworks') : network })}
                description="{title} {lead} {author} {section} {url} {hashtags}"
                autosize
                minRows={3}
                maxLength={5000}
                placeholder={d.templates.default}
                value={d.templates[network] ?? ''}
                onChange={(e) => template(e.currentTarget.value)}
              />
              {d.trigger.evergreen && (
                <Variants
                  texts={d.variants?.[network] ?? []}
                  set={(texts) => set({ variants: { ...d.variants, [network]: texts } })}
                />
              )}
              <Textarea
                label={t('rules.hashtags')}
                description={t('rules.hashtagsText')}
                autosize
                minRows={2}
                value={hashtags}
                onChange={(e) => setHashtags(e.currentTarget.value)}
              />
              <SimpleGrid cols={{ base: 1, sm: 3 }}>
                {(['source', 'medium', 'campaign'] as const).map((field) => (
                  <TextInput
                    key={field}
                    label={`utm_${field}`}
                    placeholder={field === 'source' ? t('rules.utmSource') : undefined}
                    maxLength={200}
                    value={d.utm?.[field] ?? ''}
                    onChange={(e) => set({ utm: { ...d.utm, [field]: e.currentTarget.value } })}
                  />
                ))}
              </SimpleGrid>
              <Group>
                <Switch
                  label={t('rules.trackLinks')}
                  checked={d.track_links}
                  onChange={(e) => set({ track_links: e.currentTarget.checked })}
                />
                {!d.trigger.evergreen && (
                  <Switch
                    label={t('rules.oncePerStory')}
                    checked={d.conditions.once_per_story ?? false}
                    onChange={(e) => set({ conditions: { ...d.conditions, once_per_story: e.currentTarget.checked } })}
                  />
                )}
                <Switch
                  label={t('rules.image')}
                  checked={d.image === 'article'}
                  onChange={(e) => set({ image: e.currentTarget.checked ? 'article' : 'none' })}
                />
              </Group>
            </Stack>
          </Fieldset>
          <Fieldset legend={t('rules.where')}>
            <SimpleGrid cols={{ base: 1, sm: 2 }}>
              <MultiSelect
                label={t('nav.accounts')}
                disabled={!!d.group_id}
                data={accounts
                  .filter((a) => a.status !== 'disconnected')
                  .map((a) => ({ value: a.id, label: `${a.handle} (${a.network})` }))}
                value={d.group_id ? [] : (d.account_ids ?? [])}
                onChange={(v) => set({ account_ids: v, group_id: undefined })}
              />
              <Select
                label={t('rules.group')}
                clearable
                data={groups.map((g) => ({ value: g.id, label: g.name }))}
                value={d.group_id ?? null}
                onChange={(v) => set({ group_id: v ?? undefined, account_ids: v ? [] : d.account_ids })}
              />
            </SimpleGrid>
          </Fieldset>
          <TimingFields definition={d} set={set} />
          {error && (
            <Alert color="red" role="alert">
              {errorText(error)}
            </Alert>
          )}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" loading={preview.isPending} onClick={() => preview.mutate()}>
              {t('rules.preview')}
            </Button>
            <Button type="submit" loading={save.isPending}>
              {t('save')}
            </Button>
          </Group>
          {preview.data && <Preview preview={preview.data} />}
        </Stack>
      </form>
    </FormDialog>
  )
}
