// mcs -r:System.Net.Http -r:System.Web.Extensions OAuth.cs && mono OAuth.exe: open the address that it prints
using System;
using System.Collections.Generic;
using System.Linq;
using System.Net;
using System.Net.Http;
using System.Security.Cryptography;
using System.Text;
using System.Web.Script.Serialization;

class OAuth
{
    static string Setting(string name)
    {
        return Environment.GetEnvironmentVariable(name);
    }

    static string Base64Url(byte[] bytes)
    {
        return Convert.ToBase64String(bytes).TrimEnd('=').Replace('+', '-').Replace('/', '_');
    }

    static string Random(int length)
    {
        var bytes = new byte[length];
        using (var random = RandomNumberGenerator.Create()) random.GetBytes(bytes);
        return Base64Url(bytes);
    }

    static void Main()
    {
        var verifier = Random(32);
        var state = Random(16);
        var query = new Dictionary<string, string>
        {
            { "response_type", "code" },
            { "client_id", Setting("PUBLIC_KEY") },
            { "redirect_uri", Setting("REDIRECT_URI") },
            { "state", state },
            { "code_challenge", Base64Url(SHA256.Create().ComputeHash(Encoding.ASCII.GetBytes(verifier))) },
            { "code_challenge_method", "S256" },
        };
        var parts = query.Select(each => each.Key + "=" + Uri.EscapeDataString(each.Value));
        var listener = new HttpListener();
        listener.Prefixes.Add("http://127.0.0.1:" + new Uri(Setting("REDIRECT_URI")).Port + "/");
        listener.Start();
        Console.WriteLine(Setting("SERVER") + "/oauth/authorize?" + string.Join("&", parts));

        string code = null;
        for (var isOurs = false; !isOurs;)
        {
            var context = listener.GetContext();
            var sent = context.Request.QueryString;
            // Somebody else's code must not be taken for this merchant's.
            isOurs = sent["state"] == state;
            code = sent["code"];
            context.Response.StatusCode = isOurs ? 200 : 400;
            var words = Encoding.UTF8.GetBytes(isOurs ? "Close this window." : "This is not the answer to what was asked.");
            context.Response.OutputStream.Write(words, 0, words.Length);
            context.Response.Close();
        }
        if (code == null) throw new Exception("not connected");

        var client = new HttpClient();
        var form = new FormUrlEncodedContent(new Dictionary<string, string>
        {
            { "grant_type", "authorization_code" },
            { "code", code },
            { "code_verifier", verifier },
            { "redirect_uri", Setting("REDIRECT_URI") },
            { "client_id", Setting("PUBLIC_KEY") },
            { "client_secret", Setting("PRIVATE_KEY") },
        });
        var answer = client.PostAsync(Setting("SERVER") + "/oauth/token", form).Result.EnsureSuccessStatusCode();
        var json = new JavaScriptSerializer();
        var token = (string)json.Deserialize<Dictionary<string, object>>(
            answer.Content.ReadAsStringAsync().Result)["access_token"]; // a secret: keep it, and refresh_token

        client.DefaultRequestHeaders.Add("Authorization", "Bearer " + token);
        var text = client.GetStringAsync(Setting("API") + "/Products?limit=3").Result;
        foreach (var product in json.Deserialize<List<Product>>(text)) Console.WriteLine(product.SKUInfo.SKU);
    }

    class Product
    {
        public Info SKUInfo { get; set; }
    }

    class Info
    {
        public string SKU { get; set; }
    }
}
