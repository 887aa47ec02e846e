# A Perl program with SOAP::Lite, without a WSDL: perl client.pl PLAN.json.

use strict;
use warnings;
use utf8;
use JSON::PP;
use SOAP::Lite;

binmode STDOUT, ':utf8';
open my $file, '<', $ARGV[0] or die "$ARGV[0]: $!";
my $plan = decode_json(do { local $/; <$file> });

my $soap = SOAP::Lite->soapversion($plan->{version})->proxy($plan->{address})->on_fault(sub { $_[1] });
if ($plan->{way} eq 'slash') {
  # As programs are told to call a .NET service.
  $soap->ns($plan->{namespace})->on_action(sub { join '/', @_ });
}
else {
  # SOAPAction is then namespace#operation.
  $soap->default_ns($plan->{namespace});
}

sub call {
  my ($operation, $parameters) = @_;
  return $soap->call($operation, map { parameter($_, $parameters->{$_}) } sort keys %$parameters);
}

# Without a type SOAP::Lite would send letters beyond ASCII as base64.
sub parameter {
  my ($name, $value) = @_;
  my $data = SOAP::Data->name($name);
  return $data->value($value ? 'true' : 'false')->type('boolean') if JSON::PP::is_bool($value);
  return defined $value ? $data->value($value)->type('string') : $data->value(undef);
}

# What differs from what is expected; undef: nothing.
sub difference {
  my ($call, $answer) = @_;
  return $answer->faultstring // 'a fault' if $answer->fault;
  my $result = "//$call->{operation}Result";
  my ($root) = keys %{ $answer->valueof($result) };
  my $texts_at = sub { [map { $_ // '' } $answer->valueof("$result/$root/$_[0]")] };
  return "the root is $root, not $call->{root}: " . shown($texts_at->('Id')) if $root ne $call->{root};
  for my $path (keys %{ $call->{texts} }) {
    my ($given, $wanted) = (shown($texts_at->($path)), shown($call->{texts}{$path}));
    return "$path is $given, not $wanted" if $given ne $wanted;
  }
  for my $path (keys %{ $call->{patterns} }) {
    my ($given, $pattern) = ($texts_at->($path), $call->{patterns}{$path});
    return "$path is " . shown($given) . ", which does not fit $pattern" if ($given->[0] // '') !~ /$pattern/;
  }
  return undef;
}

sub shown { return join ', ', map { "'$_'" } @{ $_[0] } }

my ($done, $failed) = (0, 0);

sub report {
  my ($what, $fault) = @_;
  $done++;
  $failed++ if defined $fault;
  print defined $fault ? "FAILED $what: $fault\n" : "ok $what\n";
}

for my $call (@{ $plan->{calls} }) {
  my $answer = call($call->{operation}, $call->{parameters});
  # Not an object: there was no answer.
  my $fault = ref $answer ? difference($call, $answer) : $soap->transport->status;
  report("$call->{operation}, $call->{name}", $fault);
}

my ($operation, $code, $text) = @{ $plan->{fault} }{qw(operation code text)};
my $answer = call($operation, $plan->{fault}{parameters});
# Of SOAP 1.2, SOAP::Lite gives a fault's parts as they stand.
my $fault = ref $answer && $answer->fault // {};
my $given_code = $fault->{faultcode} // $fault->{Code}{Value} // 'none';
my $given_text = $fault->{faultstring} // $fault->{Reason}{Text} // '';
my $is_expected = $given_code eq "soap:$code" && index($given_text, $text) >= 0;
report("$operation, a fault", $is_expected ? undef : "the fault is $given_code $given_text");

print $done - $failed, " of $done as expected\n";
exit($failed == 0 ? 0 : 1);
