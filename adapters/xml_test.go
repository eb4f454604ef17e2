package adapters_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/pager"
)

const objects = `
format: xml
xml: {root: ListBucketResult, arrays: [Contents], numbers: [KeyCount, Contents.Size], booleans: [IsTruncated]}
request: {cursor: {in: query:continuation-token}, size: {in: query:max-keys}}
page: {required: [IsTruncated]}
items: {at: Contents, id: [Key], created_at: LastModified, empty_when: [absent], beside: [Name, Prefix, KeyCount, MaxKeys, CommonPrefixes, Delimiter]}
next: {from: body:NextContinuationToken}
end: {rule: flag_false, at: IsTruncated}
errors: {codes: {SlowDown: rate_limited, InvalidArgument: cursor_expired}}`

const records = `
format: xml
xml: {root: OAI-PMH, arrays: [ListRecords.record]}
request: {cursor: {in: query:resumptionToken}, follow: {keep: [verb]}}
page: {required: [ListRecords], forbidden: [error], total: body:ListRecords.resumptionToken.@completeListSize}
items: {at: ListRecords.record, id: [header.identifier], created_at: header.datestamp}
next: {from: "body:ListRecords.resumptionToken.#text"}
end: {rule: cursor, when: [absent, empty], empty_errors: [noRecordsMatch]}
errors: {codes: {badResumptionToken: cursor_expired}}`

// TestXMLPages reads small answers in XML.
func TestXMLPages(t *testing.T) {
	bucket := func(inside string) string {
		return `<?xml version="1.0"?><ListBucketResult xmlns="http://x">` + inside + `</ListBucketResult>`
	}
	oai := func(inside string) string {
		return `<OAI-PMH xmlns="http://o"><responseDate>d</responseDate>` + inside + `</OAI-PMH>`
	}
	listed := func(token string) string {
		return oai(`<ListRecords><record><header><identifier>r</identifier></header></record>` + token + `</ListRecords>`)
	}
	for _, c := range []struct {
		name     string
		contract string
		at       pager.Cursor
		status   int
		body     string
		ids      string
		end      pager.End
		next     string // "-" for none
		code     pager.Code
	}{
		{"more", objects, pager.Cursor{}, 200, bucket(`<IsTruncated>true</IsTruncated><NextContinuationToken>1ueGc+/=</NextContinuationToken><Contents><Key> a&amp;b </Key></Contents>`), " a&b ", pager.EndMore, "1ueGc+/=", ""},
		{"the end", objects, pager.Cursor{}, 200, bucket("\n <IsTruncated>\nfalse </IsTruncated>\n<Contents><Key>a</Key></Contents><Contents><Key>b</Key></Contents>\n"), "a b", pager.EndLast, "-", ""},
		{"prefixes alone", objects, pager.Cursor{}, 200, bucket(`<IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken><CommonPrefixes><Prefix>p/</Prefix></CommonPrefixes>`), "", pager.EndMore, "t", ""},
		{"more without a token", objects, pager.Cursor{}, 200, bucket(`<IsTruncated>true</IsTruncated><Contents><Key>a</Key></Contents>`), "a", pager.EndMore, "-", ""},
		{"a flag that is none", objects, pager.Cursor{}, 200, bucket(`<IsTruncated>no</IsTruncated>`), "", pager.EndUnknown, "-", ""},
		{"no flag", objects, pager.Cursor{}, 200, bucket(`<Contents><Key>a</Key></Contents>`), "", 0, "", pager.CodeNotAList},
		{"another root", objects, pager.Cursor{}, 200, `<html><body><IsTruncated>false</IsTruncated></body></html>`, "", 0, "", pager.CodeNotAList},
		{"an error in a 200", objects, pager.Cursor{}, 200, `<?xml version="1.0"?><Error><Code>SlowDown</Code><Message>wait</Message></Error>`, "", 0, "", pager.CodeRateLimited},
		{"an error", objects, pager.Cursor{}, 503, `<?xml version="1.0"?><Error><Code>SlowDown</Code><Message>wait</Message></Error>`, "", 0, "", pager.CodeRateLimited},
		{"an error in a 200 about the cursor", strings.Replace(objects, "errors: {", "errors: {rules: [{error: Gone, with_cursor: true, means: cursor_expired}], ", 1), pager.At("t"), 200, `<Error><Code>Gone</Code></Error>`, "", 0, "", pager.CodeCursorExpired},
		{"an error inside another", objects, pager.At("t"), 400, `<?xml version="1.0"?><ErrorResponse><Error><Code>InvalidArgument</Code></Error></ErrorResponse>`, "", 0, "", pager.CodeCursorExpired},
		{"JSON", objects, pager.Cursor{}, 200, `{"IsTruncated":false}`, "", 0, "", pager.CodeNotAList},
		{"nothing", objects, pager.Cursor{}, 200, ``, "", 0, "", pager.CodeNotAList},
		{"cut short", objects, pager.Cursor{}, 200, `<ListBucketResult><IsTruncated>false`, "", 0, "", pager.CodeNotAList},
		{"two roots", objects, pager.Cursor{}, 200, bucket(`<IsTruncated>false</IsTruncated>`) + `<x/>`, "", 0, "", pager.CodeNotAList},
		{"a document type", objects, pager.Cursor{}, 200, `<!DOCTYPE x [<!ENTITY e "a">]><ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>`, "", 0, "", pager.CodeNotAList},
		{"an entity of its own", objects, pager.Cursor{}, 200, bucket(`<IsTruncated>false</IsTruncated><Name>&e;</Name>`), "", 0, "", pager.CodeNotAList},
		{"too deep", objects, pager.Cursor{}, 200, strings.Repeat("<a>", 200) + strings.Repeat("</a>", 200), "", 0, "", pager.CodeNotAList},

		{"a token", records, pager.Cursor{}, 200, listed(`<resumptionToken>T&amp;1</resumptionToken>`), "r", pager.EndMore, "T&1", ""},
		{"an empty token over two lines", records, pager.Cursor{}, 200, listed("<resumptionToken completeListSize=\"1\">\n  </resumptionToken>"), "r", pager.EndLast, "-", ""},
		{"a token with attributes", records, pager.Cursor{}, 200, listed(`<resumptionToken cursor="0" completeListSize="8">T</resumptionToken>`), "r", pager.EndMore, "T", ""},
		{"an empty token", records, pager.At("T"), 200, listed(`<resumptionToken/>`), "r", pager.EndLast, "-", ""},
		{"an empty token with attributes", records, pager.At("T"), 200, listed(`<resumptionToken cursor="8"></resumptionToken>`), "r", pager.EndLast, "-", ""},
		{"no token", records, pager.At("T"), 200, listed(``), "r", pager.EndLast, "-", ""},
		{"no records match", records, pager.Cursor{}, 200, oai(`<error code="noRecordsMatch"/>`), "", pager.EndLast, "-", ""},
		{"no records match, after a token", records, pager.At("T"), 200, oai(`<error code="noRecordsMatch">none</error>`), "", 0, "", pager.CodeNotAList},
		{"the token expired", records, pager.At("T"), 200, oai(`<error code="badResumptionToken">gone</error>`), "", 0, "", pager.CodeCursorExpired},
		{"several errors", records, pager.At("T"), 200, oai(`<error code="badResumptionToken"/><error code="badArgument"/>`), "", 0, "", pager.CodeCursorExpired},
		{"another verb", records, pager.Cursor{}, 200, oai(`<Identify/>`), "", 0, "", pager.CodeNotAList},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr, client := api(t, answer(c.status, c.body, "Content-Type", "application/xml"))
			pages, fault, err := walk(t.Context(), onePage(list(t, client, parsed(t, c.contract), things, nil)), c.at)
			if c.code != "" {
				if fault == nil || fault.Code != c.code {
					t.Errorf("got %v, want %s", err, c.code)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			token, set := pages[0].Next.Token()
			if ids(pages[0]) != c.ids || pages[0].End != c.end || set == (c.next == "-") || set && token != c.next {
				t.Errorf("got %q, %s, %s by %q", ids(pages[0]), pages[0].End, pages[0].Next, pages[0].Evidence)
			}
			if !strings.Contains(tr.seen[0].header.Get("Accept"), "xml") {
				t.Errorf("it asked for %s", tr.seen[0].header.Get("Accept"))
			}
		})
	}
}

// TestXMLItems decodes items of XML, and keeps them as JSON.
func TestXMLItems(t *testing.T) {
	body := `<ListBucketResult><IsTruncated>false</IsTruncated><Contents>
  <Key>k</Key><Size>9007199254740993</Size><Tag>1</Tag><Tag>2</Tag><Owner kind="u"><ID>7</ID></Owner><Note lang="en">hi</Note><Empty/>
  </Contents></ListBucketResult>`
	type object struct {
		Key   string
		Size  int64
		Tag   []string
		Owner struct {
			Kind string `json:"@kind"`
			ID   string
		}
		Note struct {
			Text string `json:"#text"`
		}
		Empty string
	}
	_, client := api(t, answer(200, body))
	p, err := adapters.List[object](client, parsed(t, objects), things, nil)
	if err != nil {
		t.Fatal(err)
	}
	for page, err := range p.Pages(t.Context(), pager.Cursor{}) {
		if err != nil {
			t.Fatal(err)
		}
		item := page.Items[0]
		if v := item.Value; item.ID != "k" || v.Size != 9007199254740993 || len(v.Tag) != 2 || v.Owner.Kind != "u" || v.Owner.ID != "7" || v.Note.Text != "hi" {
			t.Errorf("got %+v", item)
		}
		if !json.Valid(item.Raw) {
			t.Errorf("the raw item is no JSON: %s", item.Raw)
		}
	}
}

// TestXMLFixtures reads vendors' own examples.
func TestXMLFixtures(t *testing.T) {
	uploads := parsed(t, `
format: xml
xml: {root: ListMultipartUploadsResult, arrays: [Upload], booleans: [IsTruncated]}
request: {}
items: {at: Upload, id: [Key, UploadId], created_at: Initiated}
next:
  parts:
    - {from: body:NextKeyMarker, in: query:key-marker}
    - {from: body:NextUploadIdMarker, in: query:upload-id-marker}
end: {rule: flag_false, at: IsTruncated}`)
	jobs := parsed(t, `
format: xml
xml: {root: ListJobsResponse, arrays: [ListJobsResult.Jobs.member], booleans: [ListJobsResult.IsTruncated]}
request: {cursor: {in: query:Marker}}
items: {at: ListJobsResult.Jobs.member, id: [JobId]}
next: {from: last_id}
end: {rule: flag_false, at: ListJobsResult.IsTruncated}`)
	for _, c := range []struct {
		file     string
		contract adapters.Contract
		items    int
		end      pager.End
		next     string // "-" for none
	}{
		{"aws-s3-list-objects.xml", parsed(t, strings.Replace(objects, "beside: [", "beside: [Marker, ", 1)), 2, pager.EndLast, "-"},
		{"aws-s3-list-multipart-uploads-truncated.xml", uploads, 3, pager.EndMore, `["my-movie.m2ts","YW55IGlkZWEgd2h5IGVsdmluZydzIHVwbG9hZCBmYWlsZWQ"]`},
		{"aws-importexport-list-jobs.xml", jobs, 2, pager.EndMore, "AVEYF"},
		{"oai-ListRecords.xml", parsed(t, records), 2, pager.EndMore, "ListRecords2.xml"},
		{"oai-ListRecords4.xml", parsed(t, records), 2, pager.EndLast, "-"},
		{"oai-noRecordsMatch.xml", parsed(t, records), 0, pager.EndLast, "-"},
	} {
		t.Run(c.file, func(t *testing.T) {
			page := readOne(t, c.contract, string(shared(t, "fixtures/"+c.file)))
			token, set := page.Next.Token()
			if len(page.Items) != c.items || page.End != c.end || set == (c.next == "-") || set && token != c.next {
				t.Errorf("got %d items, %s, %s by %q", len(page.Items), page.End, page.Next, page.Evidence)
			}
		})
	}
	t.Run("oai-badResumptionToken.xml", func(t *testing.T) {
		_, client := api(t, answer(200, string(shared(t, "fixtures/oai-badResumptionToken.xml"))))
		_, fault, err := walk(t.Context(), list(t, client, parsed(t, records), things, nil), pager.At("T"))
		if fault == nil || fault.Code != pager.CodeCursorExpired {
			t.Errorf("got %v", err)
		}
	})
}

// TestXMLCutShort pauses for an answer that nothing but a lost connection ended.
func TestXMLCutShort(t *testing.T) {
	_, client := api(t, openEnded(`<ListBucketResult><IsTruncated>false</IsTruncated><Contents>`))
	_, fault, err := walk(t.Context(), list(t, client, parsed(t, objects), things, nil), pager.Cursor{})
	if fault == nil || fault.Code != pager.CodeTransport || fault.Verdict != pager.Pause {
		t.Errorf("got %v", err)
	}
}

func FuzzXML(f *testing.F) {
	f.Add([]byte(`<ListBucketResult><IsTruncated>false</IsTruncated><Contents a="1">x<Key>k</Key></Contents></ListBucketResult>`))
	f.Add([]byte("<?xml version='1.0' encoding='ISO-8859-1'?><ListBucketResult>\xe9</ListBucketResult>"))
	f.Fuzz(func(t *testing.T, body []byte) {
		_, client := api(t, answer(200, string(body)))
		contract := parsed(t, objects)
		for page, err := range list(t, client, contract, things, nil).Pages(t.Context(), pager.Cursor{}) {
			if err == nil {
				for _, item := range page.Items {
					if !json.Valid(item.Raw) {
						t.Errorf("an item is no JSON: %q", item.Raw)
					}
				}
			}
			break
		}
	})
}
