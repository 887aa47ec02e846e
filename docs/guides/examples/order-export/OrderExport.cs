// mcs -r:System.Net.Http -r:System.Web.Extensions OrderExport.cs && mono OrderExport.exe folder
// Brings the folder up to date and ends; run it every minute, or as often as you like.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Net.Http;
using System.Text.RegularExpressions;
using System.Threading;
using System.Web.Script.Serialization;
using Record = System.Collections.Generic.Dictionary<string, object>;

class OrderExport
{
    static readonly string Api = Environment.GetEnvironmentVariable("API");
    static readonly HttpClient Client = new HttpClient();
    static readonly JavaScriptSerializer Json = new JavaScriptSerializer { MaxJsonLength = int.MaxValue };
    static string folder;

    class Page
    {
        public string Code;
        public List<Record> Records = new List<Record>();
        public string Next;
    }

    static void Main(string[] args)
    {
        folder = args[0];
        Directory.CreateDirectory(folder);
        Client.DefaultRequestHeaders.Add("SecureURL", Environment.GetEnvironmentVariable("SECURE_URL"));
        Client.DefaultRequestHeaders.Add("PrivateKey", Environment.GetEnvironmentVariable("PRIVATE_KEY"));
        Client.DefaultRequestHeaders.Add("Token", Environment.GetEnvironmentVariable("TOKEN"));

        // The kinds by name, because a server may have more than this program knows.
        var kinds = Read(Api + "/Webhooks/Events").Records.Select(kind => (string)kind["EventName"]).ToList();
        var place = Path.Combine(folder, "after.json");
        var after = File.Exists(place) ? long.Parse(File.ReadAllText(place)) : Begin();
        while (true)
        {
            var page = Read(Api + "/Events?after=" + after + "&limit=100");
            if (page.Code == "gone")
            {
                after = Begin(); // events after this place were deleted, or the store was reset
                continue;
            }
            if (page.Records.Count == 0) break;
            foreach (var happened in page.Records)
            {
                var name = (string)happened["EventName"];
                var record = happened["Record"] as Record;
                if (name == "Return Deleted") File.Delete(Path.Combine(folder, FileOfReturn(record)));
                else if (kinds.Contains(name) && name.StartsWith("Return ")) Store(FileOfReturn(record), record);
                if (kinds.Contains(name) && name.StartsWith("Order ")) Store(FileOfOrder(record), record);
                after = Convert.ToInt64(happened["Sequence"]);
            }
            // Only now: after a kill before this line the same events come again.
            Store("after.json", after);
        }
    }

    /// <summary>Reads an address. What has the code not-found (nothing matches) or gone has no records.</summary>
    static Page Read(string address)
    {
        for (var tries = 1; tries <= 8; tries++)
        {
            var wait = TimeSpan.FromSeconds(tries);
            try
            {
                var answer = Client.GetAsync(address).Result;
                var status = (int)answer.StatusCode;
                var text = answer.Content.ReadAsStringAsync().Result;
                IEnumerable<string> codes;
                var code = answer.Headers.TryGetValues("X-Error-Code", out codes) ? codes.First() : "";
                if (code == "not-found" || code == "gone") return new Page { Code = code };
                if (status == 200)
                {
                    IEnumerable<string> links;
                    var link = answer.Headers.TryGetValues("Link", out links) ? links.First() : "";
                    var found = Regex.Match(link, "<([^>]+)>; rel=\"next\"");
                    return new Page
                    {
                        Records = Json.Deserialize<List<Record>>(text),
                        Next = found.Success ? found.Groups[1].Value : null,
                    };
                }
                if (status != 429 && status < 500) throw new Exception(address + ": " + status + " " + text);
                if (answer.Headers.RetryAfter != null) wait = answer.Headers.RetryAfter.Delta ?? wait;
            }
            catch (AggregateException error)
            {
                Console.Error.WriteLine("no answer: " + error.InnerException.Message);
            }
            Thread.Sleep(wait);
        }
        throw new Exception(address + ": no answer after 8 tries");
    }

    /// <summary>Replaces a file as a whole, so that a kill leaves the former one or the new one.</summary>
    static void Store(string name, object value)
    {
        var file = Path.Combine(folder, name);
        File.WriteAllText(file + ".new", Json.Serialize(value));
        if (File.Exists(file)) File.Replace(file + ".new", file, null);
        else File.Move(file + ".new", file);
    }

    static string FileOfOrder(Record order)
    {
        return "order-" + order["OrderID"] + ".json";
    }

    static string FileOfReturn(Record of)
    {
        return "return-" + of["RMAID"] + ".json";
    }

    /// <summary>Reads and stores all records of a list, and returns the names of their files.</summary>
    static List<string> StoreAll(string path, Func<Record, string> fileOf)
    {
        var files = new List<string>();
        for (var next = Api + path; next != null;)
        {
            var page = Read(next);
            foreach (var record in page.Records)
            {
                Store(fileOf(record), record);
                files.Add(fileOf(record));
            }
            next = page.Next;
        }
        return files;
    }

    /// <summary>Asks where the feed stands, and then reads everything: what changes meanwhile comes by the feed. Whatever
    /// fails ends the program before it stores a place.</summary>
    static long Begin()
    {
        var newest = Read(Api + "/Events?after=newest").Records;
        var after = newest.Count == 0 ? 0 : Convert.ToInt64(newest[0]["Sequence"]);
        var current = new HashSet<string>(StoreAll("/Orders?limit=300", FileOfOrder));
        current.UnionWith(StoreAll("/RMA?limit=500", FileOfReturn));
        // What an earlier beginning left, and the store no longer has.
        foreach (var file in Directory.GetFiles(folder))
        {
            var name = Path.GetFileName(file);
            if (Regex.IsMatch(name, @"^(order|return)-\d+\.json$") && !current.Contains(name)) File.Delete(file);
        }
        Store("after.json", after);
        return after;
    }
}
