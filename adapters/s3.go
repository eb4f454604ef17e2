package adapters

import "github.com/everypage-go/everypage/pager"

// S3ListObjectsV2 is the contract of ListObjectsV2, in XML: NextContinuationToken,
// until IsTruncated=false. A page may hold common prefixes alone, and go on; what
// lies below them is not listed. General purpose buckets list in the order of
// keys.
func S3ListObjectsV2() Contract {
	return Contract{
		Name:       "s3-list-objects-v2",
		Doc:        "S3 ListObjectsV2: the address has list-type=2; NextContinuationToken until IsTruncated=false. With a delimiter, what lies below a common prefix is not listed.",
		Source:     []string{"Amazon S3 API reference, ListObjectsV2"},
		Unverified: []string{"order", "errors"},
		Format:     formatXML,
		XML: XMLRule{
			Root:     "ListBucketResult",
			Arrays:   []Path{"Contents", "CommonPrefixes"},
			Numbers:  []Path{"KeyCount", "MaxKeys", "Contents.Size"},
			Booleans: []Path{"IsTruncated"},
		},
		Request: Request{
			Header: map[string]string{"Accept": "application/xml"},
			Size:   Size{In: "query:max-keys", Default: 1000, Max: 1000},
			Cursor: CursorRule{In: "query:continuation-token"},
		},
		Page: PageRule{Required: []Path{"IsTruncated"}, Forbidden: []Path{"Marker"}},
		Items: Items{
			At: "Contents", ID: []Path{"Key"}, EmptyWhen: []string{whenAbsent},
			Beside: []string{
				"Name", "Prefix", "Delimiter", "MaxKeys", "EncodingType", "KeyCount", "StartAfter", "ContinuationToken", "CommonPrefixes", "RequestCharged",
			},
		},
		Next:   Next{From: "body:NextContinuationToken"},
		End:    EndRule{Rule: EndFlagFalse, At: "IsTruncated"},
		Errors: s3Errors(),
		Order:  pager.OrderStable,
	}
}

// S3ListObjects is the contract of the first version of that list: NextMarker,
// which is sent with a delimiter only, or else the last key.
func S3ListObjects() Contract {
	c := S3ListObjectsV2()
	c.Name = "s3-list-objects"
	c.Doc = "S3 ListObjects, version 1: NextMarker or the last key, until IsTruncated=false."
	c.Source = []string{"Amazon S3 API reference, ListObjects"}
	c.Request.Cursor.In = "query:marker"
	// With encoding-type=url the last key comes encoded, and sent back like that it
	// is another position.
	c.Page.Required, c.Page.Forbidden = []Path{"IsTruncated", "Marker"}, []Path{"EncodingType"}
	c.Items.Beside = append(c.Items.Beside, "NextMarker")
	c.Next = Next{From: "body:NextMarker", Or: []Place{fromLastID}}
	return c
}

// S3ListMultipartUploads is the contract of ListMultipartUploads, whose cursor is
// two markers that belong together.
func S3ListMultipartUploads() Contract {
	c := S3ListObjectsV2()
	c.Name = "s3-list-multipart-uploads"
	c.Doc = "S3 ListMultipartUploads: NextKeyMarker with NextUploadIdMarker, until IsTruncated=false."
	c.Source = []string{"Amazon S3 API reference, ListMultipartUploads"}
	c.XML = XMLRule{
		Root:     "ListMultipartUploadsResult",
		Arrays:   []Path{"Upload", "CommonPrefixes"},
		Numbers:  []Path{"MaxUploads"},
		Booleans: []Path{"IsTruncated"},
	}
	c.Request.Size.In, c.Request.Cursor = "query:max-uploads", CursorRule{}
	c.Page = PageRule{Required: []Path{"IsTruncated"}, Forbidden: []Path{"EncodingType"}} // as in ListObjects
	c.Items = Items{
		At: "Upload", ID: []Path{"Key", "UploadId"}, CreatedAt: "Initiated", EmptyWhen: []string{whenAbsent},
		Beside: []string{
			"Bucket", "Prefix", "Delimiter", "MaxUploads", "KeyMarker", "UploadIdMarker",
			"NextKeyMarker", "NextUploadIdMarker", "CommonPrefixes", "RequestCharged",
		},
	}
	c.Next = Next{Parts: []Part{
		{From: "body:NextKeyMarker", In: "query:key-marker"},
		{From: "body:NextUploadIdMarker", In: "query:upload-id-marker"},
	}}
	return c
}

func s3Errors() ErrorRules {
	r := awsErrors()
	r.Codes["ExpiredToken"] = pager.CodeUnauthorized
	return r
}
