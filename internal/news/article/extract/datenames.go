package extract

// Names of meta elements with dates, the most explicit first.
func publishedNames() []string {
	return []string{
		"article:published_time", "og:published_time", "article:published", "og:article:published_time",
		"itemprop:datepublished",
	}
}

func updatedNames() []string {
	return []string{
		"article:modified_time", "og:updated_time", "article:updated_time", "itemprop:datemodified",
		"lastmod", "last-modified", "article_updatetime", "revised", "dcterms.modified", "dc.date.modified",
	}
}

func otherDateNames() []string {
	return []string{
		"pubdate", "publishdate", "publish-date", "publish_date", "parsely-pub-date", "sailthru.date",
		"article.published", "published-date", "dc.date.issued", "dcterms.created",
		"cxenseparse:recs:publishtime", "displaydate", "originalpublicationdate",
		"article.created", "ptime", "rnews:datepublished", "citation_publication_date", "datepublished", "ms.date",
		"article:post_date", "dcterms.issued", "dcterms.available", "citation_date", "citation_online_date",
		"published_at", "published", "publication_date", "date_published", "pub_date", "pubdate_iso", "created",
		"article_date_original", "dc.date.created", "dc.created", "bt:pubdate", "shareaholic:article_published_time",
		"article:published_date", "article:publicationdate", "content_create_date", "date_created", "datecreated",
		"dateposted", "dc.date.publication", "dcsext.articlefirstpublished", "dc:created", "dc:date", "doc_date",
		"mediator_published_time", "og:article:published", "og:datepublished", "og:pubdate",
		"og:publish_date", "og:question:published_time", "og:regdate", "pdate", "publish_time", "published_date",
		"published_time", "release_date", "pub-date", "publication-date", "date-pub", "itemprop:datecreated",
	}
}

// anyDateNames are those of "a point or period of time associated with an event in the
// lifecycle of the resource" (https://www.dublincore.org/specifications/dublin-core/dcmi-terms/#date):
// often the publication, also an update or the time when the page was generated. A marked
// date next to the headline is more certain.
func anyDateNames() []string { return []string{"dc.date", "dcterms.date", "date"} }
