import { Alert, Button, Checkbox, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api, type Media, idempotencyHeader, type Schemas, unwrap } from '../../api/client'
import { refreshPosts } from '../../lib/posts'
import { errorText } from '../../lib/notify'
import { altOf, contentOf, imageOf, type Taken } from './post'
import { forget, useFormState } from '../../lib/formState'
import { FormDialog } from '../../components/FormDialog'

/** Creates a draft from an article and opens it in the composer. */
export function MakePost({ article: a, close }: { article: Schemas['Article']; close: () => void }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const client = useQueryClient()
  const image = imageOf(a)
  const form = `article ${a.id}`
  const [taken, setTaken] = useFormState<Taken>(form, 'taken', {
    title: true,
    lead: (a.lead ?? '') !== '',
    link: true,
    image: image !== undefined,
    track: true,
  })
  const [file, setFile] = useState<Media>()
  const fetched = useMutation({
    mutationFn: (url: string) =>
      unwrap(
        api.POST('/api/v1/media/fetch', {
          params: { header: idempotencyHeader() },
          body: { url, alt_text: altOf(a, url) },
        }),
      ),
    onSuccess: (made) => {
      setFile(made)
      void client.invalidateQueries({ queryKey: ['media-list'] })
    },
    // The post is created without its image.
    onError: () => setTaken((all) => ({ ...all, image: false })),
  })
  const make = useMutation({
    mutationFn: async () => {
      const attached =
        taken.image && image ? (file ?? (await fetched.mutateAsync(image).catch(() => undefined))) : undefined
      if (taken.image && image && !attached) return undefined
      return unwrap(
        api.POST('/api/v1/posts', {
          params: { header: idempotencyHeader() },
          body: {
            content: contentOf(a, taken),
            draft: true,
            track_links: taken.link && taken.track,
            ...(attached ? { attachments: [attached.id] } : {}),
            ...(a.language ? { language: a.language.slice(0, 3) } : {}),
          },
        }),
      )
    },
    onSuccess: async (post) => {
      if (!post) return
      forget(form)
      refreshPosts(client)
      await navigate({ to: '/compose', search: { id: post.id } })
    },
  })
  const box = (part: keyof Taken, disabled: boolean, description?: string) => (
    <Checkbox
      label={t(`article.take.${part}`)}
      description={description}
      disabled={disabled}
      checked={taken[part] && !disabled}
      onChange={(e) => setTaken({ ...taken, [part]: e.currentTarget.checked })}
    />
  )
  const text = contentOf(a, taken)
  return (
    <FormDialog form={form} opened onClose={close} title={t('article.makePost')}>
      <form
        onSubmit={(e) => {
          e.preventDefault()
          make.mutate()
        }}
      >
        <Stack gap="sm">
          {box('title', false)}
          {box('lead', !a.lead)}
          {box('link', false)}
          {box('track', !taken.link, t('article.trackText'))}
          {box('image', !image, t(image ? 'article.imageText' : 'article.noImage'))}
          <Stack gap={4}>
            <Text size="sm" fw={600}>
              {t('article.text')}
            </Text>
            <Text size="sm" className="dl-text dl-card" p="sm" data-text>
              {text || t('post.noText')}
            </Text>
          </Stack>
          {fetched.error && (
            <Alert color="yellow" role="alert" title={t('article.imageFailed')}>
              {errorText(fetched.error)}
            </Alert>
          )}
          {make.error && (
            <Alert color="red" role="alert">
              {errorText(make.error)}
            </Alert>
          )}
          <Button type="submit" loading={make.isPending} disabled={text === '' && !taken.image}>
            {t(fetched.error ? 'article.withoutImage' : 'article.open')}
          </Button>
        </Stack>
      </form>
    </FormDialog>
  )
}
