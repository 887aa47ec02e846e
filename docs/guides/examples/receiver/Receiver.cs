// mcs -r:System.Web.Extensions Receiver.cs && SECRET=whsec_… PORT=8300 mono Receiver.exe
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Net;
using System.Security.Cryptography;
using System.Text;
using System.Web.Script.Serialization;

class Receiver
{
    static readonly byte[] Key =
        Convert.FromBase64String(Environment.GetEnvironmentVariable("SECRET").Substring("whsec_".Length));

    static void Main()
    {
        var listener = new HttpListener();
        var port = Environment.GetEnvironmentVariable("PORT") ?? "8300";
        listener.Prefixes.Add("http://127.0.0.1:" + port + "/");
        listener.Start();
        Console.WriteLine("listening");
        var seen = new HashSet<string>(); // in earnest: a table with the ids of the last days
        while (true)
        {
            var context = listener.GetContext();
            var headers = context.Request.Headers;
            var memory = new MemoryStream();
            context.Request.InputStream.CopyTo(memory);
            var body = memory.ToArray();
            if (!IsGenuine(headers["webhook-id"], headers["webhook-timestamp"], headers["webhook-signature"], body))
            {
                context.Response.StatusCode = 401;
            }
            else
            {
                if (seen.Add(headers["webhook-id"]))
                {
                    var records = new JavaScriptSerializer().Deserialize<List<Dictionary<string, object>>>(
                        Encoding.UTF8.GetString(body));
                    Console.WriteLine(
                        headers["webhook-event"] + " " + headers["webhook-sequence"] + " " + records[0]["OrderID"]);
                }
                context.Response.StatusCode = 204;
            }
            context.Response.Close();
        }
    }

    static bool IsGenuine(string id, string timestamp, string signatures, byte[] body)
    {
        long seconds;
        if (!long.TryParse(timestamp, out seconds) || signatures == null) return false;
        if (Math.Abs(DateTimeOffset.UtcNow.ToUnixTimeSeconds() - seconds) > 300) return false;
        var signed = Encoding.UTF8.GetBytes(id + "." + timestamp + ".").Concat(body).ToArray();
        var expected = "v1," + Convert.ToBase64String(new HMACSHA256(Key).ComputeHash(signed));
        return signatures.Split(' ').Any(each => IsSame(each, expected));
    }

    // Takes as long for any two texts of one length.
    static bool IsSame(string one, string other)
    {
        if (one.Length != other.Length) return false;
        var difference = 0;
        for (var index = 0; index < one.Length; index++) difference |= one[index] ^ other[index];
        return difference == 0;
    }
}
